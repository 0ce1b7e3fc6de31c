"""Finds the documents or examples of a token in an HDF5 file by the text around it.

Rows of HDF5 are packed, cut, rearranged or formatted by templates, and do not record their documents. So the text
around the token, within its sequence, is searched in the input of the file.
"""

import math
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.text_exports import is_text
from corpus_assets.config.datasets.token_files import reads_tokens
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.opened import Opened
from corpus_assets.tokenize.datasets import Dataset
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tracing.origins import Origin, origin, shard_of
from corpus_assets.tracing.tables import documents_that_hold, id_in_stream
from corpus_assets.tracing.texts.origin import origin_of_row
from resources.errors import ConfigError, CorpusError
from resources.formats.examples import decode_example, example_texts
from resources.formats.hdf5.reader import read_hdf5
from resources.stage.partition import Partition

AROUND = 48
MOST_FOUND = 5
_LOOK_EVERY = 64


class _Line(msgspec.Struct):
    id: str
    source: str
    text: str


_LINE = msgspec.json.Decoder(_Line)


@dataclass(frozen=True)
class Sought:
    """A token of a row, and what was found.

    before, token, after: as text. found: documents or examples whose text holds all of it, at most `MOST_FOUND`.
    """

    before: str
    token: str
    after: str
    found: list[Origin]


class TooLongError(CorpusError):
    """The time for a search ended before anything was found."""


def trace_row(corpus: Corpus, name: str, file: str, row: int, position: int, *, seconds: float = math.inf) -> Sought:
    """Returns the documents that hold the text around one position of a row of dataset `name`, which is built.

    A row of a dataset of texts is of one document, and the position that of a character.

    seconds: how long to look for them; `TooLongError` if none was found by then. Raises `ConfigError` for a file, row
    or position that there is not.
    """
    until = time.monotonic() + seconds
    (entry,) = (entry for entry in corpus.settings.values["datasets"] if entry["name"] == name)
    if is_text(entry):
        texts, of_row = origin_of_row(corpus, name, file, row, position)
        return Sought(*texts, [of_row])
    dataset = Dataset(name, entry)
    made, path = _partition(corpus, name, file)
    stored = corpus.partition(dataset.tokenizer, None)
    if stored is None:
        raise ConfigError(f"{dataset.tokenizer} is not built; run `corpus build`")
    tokenizer = load_tokenizer_of(stored, entry.get("separator"))
    ends = {tokenizer.eos_id} if tokenizer.eos_id is not None else set()
    control = {*tokenizer.special_tokens.values(), tokenizer.pad_id, *ends}
    with made.open(path) as raw, read_hdf5(raw, path) as rows:
        if not 0 <= row < rows.n:
            raise ConfigError(f"row {row}: valid in {path}: 0 to {rows.n - 1}")
        channels = dict(zip(rows.features, rows[row : row + 1][0], strict=True))
    ids, place = _sequence(channels, position, control)
    before, token, after = (
        tokenizer.decode(part)
        for part in (ids[max(0, place - AROUND) : place], ids[place : place + 1], ids[place + 1 : place + AROUND])
    )
    around = ids[max(0, place - AROUND) : place + AROUND]
    if reads_tokens(entry):
        holding = _given(corpus, dataset, around[~np.isin(around, list(control))].astype(np.int32))
        return Sought(before, token, after, list(islice(_once(holding), MOST_FOUND)))
    text = _certain(tokenizer.decode(around[~np.isin(around, list(control))]))
    key = None if dataset.shuffled or dataset.carries_over else made.key
    holding = _holding(corpus, dataset, key, (text, until)) if text else iter(())
    found: list[Origin] = []
    try:
        found.extend(islice(_once(holding), MOST_FOUND))
    except TooLongError:
        if not found:
            raise
    return Sought(before, token, after, found)


def _once(found: Iterable[Origin]) -> Iterator[Origin]:
    """Yields each document once: a split has it as often as the corpus uses it (`epochs`)."""
    seen: set[Origin] = set()
    for one in found:
        if one not in seen:
            seen.add(one)
            yield one


def _until(until: float, lines: Iterator[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(lines):
        if number % _LOOK_EVERY == 0 and time.monotonic() > until:
            raise TooLongError("the time for this search is over")
        yield line


def _partition(opened: Opened, dataset: str, file: str) -> tuple[Partition, str]:
    paths = []
    for record in opened.records(names.tokens(dataset)).values():
        for path in (stored.path for stored in record.files):
            paths.append(path)
            if file == path or path.endswith(f"/{file}") or file.endswith(f"/{path}"):
                return opened.handle(record), path
    shown = ", ".join(path.rpartition("/")[2] for path in paths[:5]) or "none; run `corpus build`"
    raise ConfigError(f"{dataset} has no file {file!r}; it has {shown}{' ...' if paths[5:] else ''}")


def _sequence(channels: dict[str, NDArray[Any]], position: int, control: Collection[int]) -> tuple[NDArray[Any], int]:
    """Returns the ids around a position that are of one text, and where it lies in them.

    control: ids of control tokens, which no text holds; at such a token the text is the one before it.
    """
    inputs = channels["input_ids" if "input_ids" in channels else "chosen_input_ids"]
    if not 0 <= position < len(inputs):
        raise ConfigError(f"position {position}: valid: 0 to {len(inputs) - 1}")
    marks = np.flatnonzero(np.isin(inputs, list(control)))
    starts = [0, *(marks + 1)]
    if (positions := channels.get("position_ids")) is not None:
        starts += np.flatnonzero(positions == 0).tolist()
    first = max(start for start in starts if start <= position)
    end = min((place for place in (*starts, *marks) if place > position), default=len(inputs))
    return inputs[first:end], position - first


def _given(corpus: Corpus, dataset: Dataset, ids: NDArray[np.int32]) -> Iterator[Origin]:
    """Yields the documents that hold ids, among those that were given in files."""
    for record in corpus.records(dataset.rows_from).values() if len(ids) else ():
        stream = corpus.handle(record)
        for number in documents_that_hold(stream, ids):
            yield origin(corpus, dataset.name, id_in_stream(stream, number), record.partition, number)


def _certain(text: str) -> str:
    """Returns the longest piece of a decoded text that holds no cut character, without the space around it."""
    return max((piece.strip() for piece in text.split("\ufffd")), key=len)


def _holding(corpus: Corpus, dataset: Dataset, key: str | None, sought: tuple[str, float]) -> Iterator[Origin]:
    """Yields what holds a text among what the files are made of. key: of the only partition to look into.

    sought: the text, and the time by the clock of `time.monotonic` at which `TooLongError` ends the search.
    """
    text, until = sought
    for record in corpus.records(dataset.rows_from).values():
        if key is not None and record.partition != key:
            continue
        made = corpus.handle(record)
        if dataset.shard_set:
            for number, line in enumerate(_until(until, made.lines())):
                example = decode_example(line)
                if any(text in held for held in example_texts(example)):
                    yield origin(corpus, example.source, example.id, record.partition, number)
            continue
        orders = made.array(".rows.npy")["order"]
        for number, line in enumerate(_until(until, made.lines())):
            document = _LINE.decode(line)
            if text in document.text:
                shard = shard_of(corpus, record.partition or "", int(orders[number]))
                yield origin(corpus, document.source, document.id, shard)
