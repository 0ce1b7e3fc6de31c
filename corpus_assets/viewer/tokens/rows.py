"""Token rows for pages: sequences of tokens, each with its role in training."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets import dataset_names as names
from corpus_assets.tokenize.datasets import Dataset
from corpus_assets.tokenize.rows.view import Side, side_names
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from corpus_assets.tracing.from_tokens.units import unit_of
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.query import missing
from corpus_assets.viewer.site import link, way_link
from corpus_assets.viewer.token_files import TokenFile
from corpus_assets.viewer.tokens.text import Decode, cells
from resources.documents.names import document_name
from resources.errors import CorpusError, StorageError
from resources.formats.hdf5.reader import read_hdf5

POSITIONS = 2048
"""Tokens of a row on one page; the others are a click away."""


@dataclass(frozen=True)
class Token:
    """One piece of text on the page. classes: how it looks; title: what is said when one points at it."""

    text: str
    classes: str
    title: str


@dataclass(frozen=True)
class Shown:
    """A sequence: a document or conversation in a row, or one answer of a preference row."""

    title: str
    tokens: list[Token]
    href: str = ""
    note: str = ""


@dataclass(frozen=True)
class ShownRow:
    """A row. facts: in words. more: positions after those shown. has_loss: whether it says what is in the loss."""

    facts: list[tuple[str, Any]]
    sequences: list[Shown]
    size: int
    has_loss: bool
    heads: list[str] = field(default_factory=list)
    table: list[list[str]] = field(default_factory=list)


def hdf5_row(view: View, dataset: str, file: TokenFile, row: int, start: int) -> ShownRow:
    """Returns a row of an HDF5 file from a position on."""
    with view.corpus.storage.open(file.path) as raw, read_hdf5(raw, file.path) as tokens:
        if not side_names(tokens.features):
            raise missing(f"{file.name} has channels {', '.join(tokens.features)}: no token rows of ours")
        attributes, features, length = tokens.attributes, tokens.features, tokens.sequence_length
        values = tokens[row : row + 1][0]
    tokenizer = _tokenizer(view, dataset, attributes.get("tokenizer"))
    inverted, pad_id = bool(attributes.get("inverted_mask", False)), int(attributes.get("pad_id", -1))
    sides = [Side.of(values, features, name, inverted and not name) for name in side_names(features)]
    found: list[Shown] = []
    for side in sides:
        found += _sequences(side, tokenizer, pad_id, (dataset, file, row), start)
    real = sum(side.size(pad_id) for side in sides)
    facts = [
        ("tokens", real),
        ("padding", len(sides) * length - real),
        ("in the loss", sum(int(np.count_nonzero(side.learned)) for side in sides)),
        ("sequences", sum(len(side.sequences(pad_id)) for side in sides)),
    ]
    if tokenizer is None:
        facts.append(("tokenizer", "not in the store: ids are shown"))
    window = slice(start, start + POSITIONS)
    heads, table = ["position", *features], _table(values[:, window], start, features, tokenizer)
    return ShownRow(facts, found, length, True, [*heads, "text"], table)


def _tokenizer(view: View, dataset: str, digest: object) -> Tokenizer | None:
    """Returns the tokenizer a file was made with; None if the store has it no longer."""
    (entry,) = (entry for entry in view.corpus.settings.values["datasets"] if entry["name"] == dataset)
    stored = view.partition(Dataset(dataset, entry).tokenizer, None)
    try:
        found = None if stored is None else load_tokenizer_of(stored, entry.get("separator"))
    except StorageError:  # A store that does not answer says nothing of the tokenizer.
        raise
    except (FileNotFoundError, CorpusError):
        return None
    return found if found is not None and found.digest == digest else None


def _control(tokenizer: Tokenizer, *more: int | None) -> set[int]:
    known = {*tokenizer.special_tokens.values(), tokenizer.eos_id, tokenizer.bos_id, tokenizer.pad_id, *more}
    return {number for number in known if number is not None}


def _sequences(
    side: Side, tokenizer: Tokenizer | None, pad_id: int, place: tuple[str, TokenFile, int], start: int
) -> list[Shown]:
    dataset, file, row = place
    found = []
    sequences = side.sequences(pad_id)
    for number, sequence in enumerate(sequences):
        low = max(0, start - sequence.first)
        high = min(len(sequence.ids), start + POSITIONS - sequence.first)
        if low >= high:
            continue
        title = side.name or (f"sequence {number + 1} of {len(sequences)}" if len(sequences) > 1 else "")
        at = sequence.first + low
        spans = None if side.spans is None else side.spans[at:]
        shown = _tokens(sequence.ids[low:high], tokenizer, at, sequence.learned[low:high], spans)
        middle = sequence.first + len(sequence.ids) // 2
        href = link("why", dataset=dataset, file=file.name, row=row, position=middle) if not side.name else ""
        learned = int(np.count_nonzero(sequence.learned))
        # A sequence has its last label besides: of a single one, the numbers of the row say all.
        note = f"{len(sequence.ids):,} tokens, {learned:,} in the loss" if len(sequences) > 1 or side.name else ""
        found.append(Shown(title, shown, href, note))
    return found


def _tokens(
    ids: NDArray[Any],
    tokenizer: Tokenizer | None,
    first: int,
    learned: NDArray[np.bool_] | None = None,
    spans: NDArray[Any] | None = None,
) -> list[Token]:
    decode: Decode = tokenizer.decode if tokenizer else lambda given: "".join(f"{number} " for number in given)
    control = _control(tokenizer) if tokenizer else set[int]()
    found = []
    for number, cell in enumerate(cells(ids, decode, control)):
        count = len(cell.ids)
        at = first + cell.first
        where = f"position {at:,}" if count == 1 else f"positions {at:,} to {at + count - 1:,}"
        said = [where, f"id {' '.join(map(str, cell.ids))}"]
        classes = ["t", "odd" if number % 2 else "even"]
        if learned is not None:
            inside = int(np.count_nonzero(learned[cell.first : cell.first + count]))
            some = f"{inside} of {count} in the loss" if inside else "not in the loss"
            said.append("in the loss" if inside == count else some)
            classes.append("loss" if inside else "context")
        if spans is not None and cell.first < len(spans):
            said.append(f"attention span {int(spans[cell.first])}")
        if cell.control:
            classes.append("control")
        found.append(Token(cell.text or "∅", " ".join(classes), ", ".join(said)))
    return found


def _table(values: NDArray[Any], start: int, features: Sequence[str], tokenizer: Tokenizer | None) -> list[list[str]]:
    """Returns every channel of a row as it is stored, a line per position, with the text of its input."""
    channel = next(n for n, name in enumerate(features) if name.endswith("input_ids"))
    texts = [""] * values.shape[1]
    if tokenizer is not None:
        for cell in cells(values[channel], tokenizer.decode, _control(tokenizer)):
            texts[cell.first] = cell.text
    columns = values.T.tolist()
    return [[str(start + n), *map(str, column), texts[n]] for n, column in enumerate(columns)]


def exported_row(view: View, dataset: str, file: TokenFile, row: int, start: int) -> ShownRow:
    """Returns a row of a file of a trainer's format from a position on, as the token stream has it."""
    unit = unit_of(view.corpus, dataset, (view.handle(file.record), file.path, row), start, POSITIONS)
    found = []
    for piece in unit.pieces:
        tokens = _tokens(piece.ids, unit.tokenizer, piece.first, piece.learned)
        title = document_name(piece.source, piece.id, 160)
        href = way_link(piece.source, piece.id)
        found.append(Shown(title, tokens, href, f"{len(piece.ids):,} tokens of it here"))
    facts: list[tuple[str, Any]] = [("tokens", unit.size), ("documents shown", len(unit.pieces))]
    table = [
        [str(piece.first + n), str(number), cell_text]
        for piece in unit.pieces
        for n, (number, cell_text) in enumerate(_texts(piece.ids, unit.tokenizer))
    ]
    learned = [piece.learned for piece in unit.pieces if piece.learned is not None]
    if learned:
        facts.append(("learned of those shown", sum(int(np.count_nonzero(one)) for one in learned)))
    return ShownRow(facts, found, unit.size, bool(learned), ["position", "id", "text"], table)


def _texts(ids: NDArray[Any], tokenizer: Tokenizer) -> list[tuple[int, str]]:
    found = [(number, "") for number in ids.tolist()]
    for cell in cells(ids, tokenizer.decode, _control(tokenizer)):
        found[cell.first] = (cell.ids[0], cell.text)
    return found


def asset_of(dataset: str) -> str:
    """Returns the asset with the token rows of a dataset."""
    return names.tokens(dataset)
