"""The examples of a classifier: chosen from all shards and files, split into parts, with their texts on disk."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.classifiers.files import ExampleFile
from corpus_assets.classifiers.lowest import Lowest, Places, example_hash, parts_of
from resources.errors import ConfigError
from resources.formats.documents import decode_document
from resources.formats.jsonl.compressions import JSONL
from resources.stage.partition import Partition

TRAINED, CALIBRATED, HELD_OUT = range(3)
PARTS = ("trained", "calibrated", "held_out")


@dataclass(frozen=True)
class Wanted:
    """What is configured. classes: in a fixed order, the positive one first. least, most: examples of a class."""

    name: str
    classes: Sequence[str]
    least: int
    most: int
    seed: int
    characters: int
    holdout: float


@dataclass(frozen=True)
class Sample:
    """Examples in the order of their hashes. positive, part: of each; texts: a file, and where each begins in it."""

    positive: NDArray[np.bool_]
    part: NDArray[np.int8]
    contradictory: int
    texts: BinaryIO
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def of(self, part: int) -> tuple[Callable[[], Iterator[str]], NDArray[np.bool_]]:
        """Returns a function that yields the texts of a part, and which of them are positive."""
        chosen = np.flatnonzero(self.part == part)
        return lambda: map(self._text, chosen.tolist()), self.positive[chosen]

    def _text(self, number: int) -> str:
        self.texts.seek(int(self.starts[number]))
        return self.texts.read(int(self.sizes[number])).decode()

    def counts(self) -> dict[str, dict[str, int]]:
        """Returns how many examples of each class each part has."""
        return {
            name: {"positive": int((held & self.positive).sum()), "negative": int((held & ~self.positive).sum())}
            for name, held in ((name, self.part == number) for number, name in enumerate(PARTS))
        }


@dataclass(frozen=True)
class Given:
    """Where examples are. labelled: the places in each shard. documents: the shards by key."""

    labelled: Sequence[Partition]
    documents: Mapping[str | None, Partition]
    files: Sequence[ExampleFile]

    def texts(self, part: int, rows: NDArray[np.int64]) -> Iterator[str]:
        """Yields the texts of some rows of a shard, or of a file behind all shards; rows ascend."""
        if part >= len(self.labelled):
            return _texts_in(self.files[part - len(self.labelled)], rows)
        return _texts_of(self.documents[self.labelled[part].key], rows)


def gathered(wanted: Wanted, given: Given, scratch: BinaryIO) -> Sample:
    """Returns the sample; `ConfigError` if a class has too few examples. scratch: an empty file for the texts."""
    found, contradictory = _chosen(wanted, given)
    parts = np.concatenate([parts_of(places["hash"], wanted.seed, wanted.holdout) for places in found])
    positive = np.repeat([True, False], [len(places) for places in found])
    places = np.concatenate(found)
    order = np.argsort(places["hash"], kind="stable")
    places, positive, parts = places[order], positive[order], parts[order]
    starts, sizes = _write_texts(wanted.characters, places, given, scratch)
    return Sample(positive, parts, contradictory, scratch, starts, sizes)


def _chosen(wanted: Wanted, given: Given) -> tuple[list[Places], int]:
    """Returns the places of both classes, and how many texts are left out because they are in both."""
    lowest = {label: Lowest(wanted.most) for label in wanted.classes}
    for number, partition in enumerate(given.labelled):
        for label in wanted.classes:
            lowest[label].add_all(_numbered(partition.array(f".{label}.npy"), number))
    for number, file in enumerate(given.files, len(given.labelled)):
        for row, text in file.texts():
            if (cut := text[: wanted.characters]) and not cut.isspace():
                lowest[file.label].add(example_hash(wanted.seed, cut), number, row)
    found = [lowest[label].found() for label in wanted.classes]
    both = np.intersect1d(found[0]["hash"], found[1]["hash"])
    found = [places[~np.isin(places["hash"], both)] for places in found]
    for label, places in zip(wanted.classes, found, strict=True):
        if len(places) < wanted.least:
            twice = f" ({len(both):,} more are in both classes)" if len(both) else ""
            raise ConfigError(
                f"classifiers: {wanted.name}.{label} has {len(places):,} different texts{twice}; valid: at least "
                f"{wanted.least:,} (`least`)"
            )
    return found, len(both)


def _numbered(places: Places, part: int) -> Places:
    found = places.copy()
    found["part"] = part
    return found


def _write_texts(
    characters: int, places: Places, given: Given, scratch: BinaryIO
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Writes the texts of all places; returns where each begins, and its bytes."""
    starts, sizes = np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
    end = 0
    for part in np.unique(places["part"]).tolist():
        chosen = np.flatnonzero(places["part"] == part)
        chosen = chosen[np.argsort(places["row"][chosen], kind="stable")]
        rows = places["row"][chosen].astype(np.int64)
        for number, text in zip(chosen.tolist(), given.texts(part, rows), strict=True):
            content = text[:characters].encode()
            scratch.write(content)
            starts[number], sizes[number] = end, len(content)
            end += len(content)
    return starts, sizes


def _texts_of(partition: Partition, rows: NDArray[np.int64]) -> Iterator[str]:
    """Yields the texts of some rows of a shard."""
    mask = np.zeros(int(partition.file(JSONL).rows or 0), np.bool_)
    mask[rows] = True
    return (decode_document(line).text for line in partition.chosen_lines(mask))


def _texts_in(file: ExampleFile, rows: NDArray[np.int64]) -> Iterator[str]:
    wanted = set(rows.tolist())
    texts = ((row in wanted, text) for row, text in file.texts())
    return (text for chosen, text in texts if chosen)
