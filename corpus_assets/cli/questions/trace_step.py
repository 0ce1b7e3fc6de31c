"""`corpus trace --step`: which documents the windows of a training step hold (readers: `corpus_assets/reading`)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table

from corpus_assets.cli.console import output, print_json, print_line
from corpus_assets.cli.questions.trace import shown
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.reading import (
    Piece,
    RawRow,
    TokenStream,
    WindowDataset,
    WindowStream,
)
from corpus_assets.reading.batches import Batches, Drawn
from corpus_assets.reading.errors import ReadingError
from corpus_assets.reading.of_corpus import tokenizer_of
from corpus_assets.reading.of_state import batches_of_state
from resources.documents.names import document_name
from resources.errors import ConfigError
from resources.system_errors import raise_machine_error

_TEXT = 160
_VALID_STATE = "valid: a file with the `state_dict()` of the run as JSON"
"""Characters of each text that the table shows; `--json` has all."""


@dataclass(frozen=True)
class Asked:
    """The options: of the training run, and what is to be shown of its step. None: not given."""

    stream: str
    step: int
    length: int | None
    batch_size: int
    seed: int | None
    shared: bool | None
    ranks: int
    rank: int | None
    window: int | None
    state: Path | None
    text: bool


class _Window(NamedTuple):
    """A window of a step. window: its place in the batch of its rank."""

    rank: int
    window: int
    drawn: Drawn
    pieces: list[Piece]


def run(config: Path | None, asked: Asked, *, as_json: bool) -> None:
    """Prints the documents of a step; `ConfigError` for a stream, a step or options that there are not."""
    corpus = Corpus.open(config, read_only=True)
    try:
        tokens = TokenStream.of_corpus(corpus.file, asked.stream)
        batches = _batches(tokens, asked)
        windows = list(_windows(batches, asked))
    except ReadingError as error:
        raise ConfigError(str(error)) from None
    documents = list(dict.fromkeys(piece.document for window in windows for piece in window.pieces))
    rows = dict(zip(documents, tokens.raw_rows(documents), strict=True))
    decode = tokenizer_of(corpus, asked.stream).decode if asked.text else None
    texts = {
        piece: decode(tokens[piece.document][max(0, piece.first) : max(0, piece.first + piece.end - piece.begin)])
        for window in windows
        for piece in window.pieces
        if decode is not None
    }
    if as_json:
        print_json(_as_json(asked, windows, rows, texts))
        return
    out = output()
    print_line(out, f"step {asked.step:,} of {asked.stream}: {len(windows):,} windows")
    out.print(_table(windows, rows, texts))


def _batches(tokens: TokenStream, asked: Asked) -> Batches:
    """Returns the batches of the run."""
    state = _state(asked)
    if state is None:
        if asked.length is None:
            raise ConfigError("--step: --length is missing; valid: the length of the run's windows, or --state FILE")
        windows = WindowDataset(tokens, asked.length, shared=asked.shared is not False, seed=asked.seed or 0)
        return WindowStream(windows, asked.batch_size, ranks=asked.ranks)
    return batches_of_state(tokens, state, asked.batch_size, ranks=asked.ranks)


def _state(asked: Asked) -> Mapping[str, Any] | None:
    """Returns the saved state, if one is given; `ConfigError` if it is none, or for options that it says itself."""
    if asked.state is None:
        return None
    if said := [
        option
        for option, value in (("--length", asked.length), ("--seed", asked.seed), ("--not-shared", asked.shared))
        if value is not None
    ]:
        raise ConfigError(f"{', '.join(said)}: the state says that itself; leave it out")
    try:
        state = json.loads(asked.state.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise_machine_error(error, "reading", asked.state)
        raise ConfigError(f"--state {asked.state} cannot be read: {error!r}; {_VALID_STATE}") from None
    if not isinstance(state, dict):
        raise ConfigError(f"--state {asked.state} holds no JSON object, but {str(state)[:40]!r}; {_VALID_STATE}")
    return state


def _windows(batches: Batches, asked: Asked) -> Iterator[_Window]:
    """Yields the windows that are to be shown."""
    size = batches.batch_size // batches.ranks
    if asked.window is not None and asked.window >= size:
        raise ConfigError(f"--window {asked.window}: valid: 0 to {size - 1}, the windows of a rank")
    for rank in range(batches.ranks) if asked.rank is None else [asked.rank]:
        found = batches.documents(asked.step, rank=rank, raw=False)
        for window, drawn in enumerate(batches.drawn(asked.step, rank=rank)):
            if asked.window in (None, window):
                yield _Window(rank, window, drawn, found[window])


def _table(windows: list[_Window], rows: Mapping[int, RawRow | None], texts: Mapping[Piece, str]) -> Table:
    table = Table()
    for column in ("rank", "window", "ids", "document", "its ids", "raw file and row", *(["text"] if texts else [])):
        table.add_column(column, overflow="fold")
    for one in windows:
        for place, piece in enumerate(one.pieces):
            where = [str(one.rank), f"{one.window}"] if place == 0 else ["", ""]
            first, end = max(0, piece.first), min(piece.ids, piece.first + piece.end - piece.begin)
            own = f"{first:,} to {end - 1:,} of {piece.ids:,}" if end > first else f"separator, of {piece.ids:,}"
            table.add_row(
                *where,
                f"{piece.begin:,} to {piece.end - 1:,}",
                document_name(piece.origin.source, piece.origin.id),
                own,
                _place(rows[piece.document]),
                *([_cut(texts[piece])] if texts else []),
            )
    return table


def _place(raw: RawRow | None) -> str:
    if raw is None or (raw.file is None and raw.row is None):
        return "not known: the corpus has no such document now"
    return f"{raw.file or 'gone'}" + ("" if raw.row is None else f", row {raw.row:,}")


def _cut(text: str) -> str:
    return shown(text[:_TEXT]) + ("..." if len(text) > _TEXT else "")


def _as_json(
    asked: Asked, windows: list[_Window], rows: Mapping[int, RawRow | None], texts: Mapping[Piece, str]
) -> dict[str, Any]:
    def piece_of(piece: Piece) -> dict[str, Any]:
        raw, origin = rows[piece.document], piece.origin
        return {
            **{key: getattr(piece, key) for key in ("begin", "end", "document", "first", "ids")},
            "source": origin.source,
            "id": origin.id,
            "copy": origin.copy,
            "file": raw and raw.file,
            "row": raw and raw.row,
            **({"text": texts[piece]} if texts else {}),
        }

    listed = [
        {
            "rank": one.rank,
            "window": one.window,
            "epoch": one.drawn.epoch,
            "number": one.drawn.number,
            "of_source": one.drawn.source,
            "pieces": [piece_of(piece) for piece in one.pieces],
        }
        for one in windows
    ]
    return {"stream": asked.stream, "step": asked.step, "batch_size": asked.batch_size, "windows": listed}
