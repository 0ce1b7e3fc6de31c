"""Finds faults of files for trainers. Workers do this, so Dagster is not loaded here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.export.datasets import ExportedDataset
from corpus_assets.export.documents import Documents
from corpus_assets.export.format import Build, Place, places_of, totals_of
from corpus_assets.export.masked.documents import LearnedReader
from corpus_assets.export.weights.stored import stored_mix
from corpus_assets.faults import UNREADABLE, unread
from corpus_assets.tokenize.counts.manifest import MANIFEST
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from resources.formats.known import format_of as stored_format
from resources.ledger.ledger import Record
from resources.stage.partition import Partition
from resources.storage.interface import Storage


@dataclass(frozen=True)
class Upstream:
    """The records of the input of a dataset's files; small enough to send to a worker.

    streams: by the keys of their partitions. mixture: None without weights.
    """

    dataset: ExportedDataset
    storage: Storage
    tokenizer: Record
    streams: Mapping[str, Record]
    mixture: Record | None

    def build(self) -> Build[Any]:
        """Returns what the partitions of the dataset share."""
        stored = Partition(self.storage, self.tokenizer, compared=False)
        loaded = load_tokenizer_of(stored, self.dataset.added_token)
        return Build.of(self.dataset.name, self.dataset.section, loaded)

    def documents(self, key: str, build: Build[Any]) -> Documents:
        """Returns the documents that files hold of a partition of the stream, as their units hold them."""
        mix = stored_mix(Partition(self.storage, self.mixture)) if self.mixture else None
        return self.dataset.units(Partition(self.storage, self.streams[key]), build, mix)


def faults_of(record: Record, given: Upstream) -> list[str]:
    """Returns the faults of a partition's files, in words."""
    made = Partition(given.storage, record, compared=False)
    try:
        faults = list(_faults(made, given))
    except UNREADABLE as error:
        faults = [unread(error)]
    return [f"{made.key or made.name}: {fault}" for fault in faults]


def _faults(made: Partition, given: Upstream) -> Iterator[str]:
    places, build, known = places_of(made), given.build(), given.dataset.format
    for path, run in groupby(places, lambda place: place.path):
        held = [*run]
        with made.open(path) as file:
            found = _Ids(known.read(file, build))
            for place in held:
                documents = given.documents(place.stream, build)
                yield from _differences(place, found, _expected(place, documents.blocks(np.uint32)))
            if more := found.rest():
                yield f"{path}: {more:,} ids more than were recorded"
        if known.targets is not None and build.section.tells_learned:
            found = _Ids(known.targets(made, path, build))
            for place in held:
                learned = LearnedReader(given.documents(place.stream, build), in_part=build.section.in_part)
                yield from _differences(place, found, _expected(place, learned.blocks()), "whether it is learned,")
    yield from count_faults([made])


class _Ids:
    """Ids of a file that are taken in pieces."""

    def __init__(self, blocks: Iterator[NDArray[Any]]) -> None:
        self._blocks = blocks
        self._held = np.empty(0, np.int64)

    def take(self, most: int) -> NDArray[np.int64]:
        """Returns the next ids, at most so many."""
        if not len(self._held):
            self._held = next(self._blocks, self._held[:0]).astype(np.int64)
        taken, self._held = self._held[:most], self._held[most:]
        return taken

    def rest(self) -> int:
        """Returns how many ids were not taken."""
        return len(self._held) + sum(len(block) for block in self._blocks)


def _expected(place: Place, blocks: Iterator[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    """Yields those values of all ids of a partition that a file should hold at a place."""
    skip, left = place.id, place.ids
    for block in blocks:
        piece = block[skip : skip + left]
        skip, left = max(0, skip - len(block)), left - len(piece)
        if len(piece):
            yield piece
        if not left:
            return


def _differences(place: Place, found: _Ids, expected: Iterator[NDArray[Any]], what: str = "id") -> Iterator[str]:
    """Yields the first difference between the ids of a file, or what it says of them, and those of the stream."""
    at, path = place.id, place.path
    for block in expected:
        done = 0
        while done < len(block):
            piece = found.take(len(block) - done)
            if not len(piece):
                yield f"{path}: ends {len(block) - done:,} ids or more too early"
                return
            unlike = np.flatnonzero(piece != block[done : done + len(piece)])
            if len(unlike):
                there, wanted = piece[unlike[0]], block[done + unlike[0]]
                yield f"{path}: {what} {at + unlike[0]:,} of {place.stream} is {there}, in the stream {wanted}"
                return
            done += len(piece)
            at += len(piece)


def manifest_faults(made: list[Partition], manifest: Partition) -> list[str]:
    """Returns the differences between a manifest and the files, whose bytes are read."""
    told = {entry["path"]: entry for entry in manifest.json(MANIFEST)["files"]}
    folder = manifest.file(MANIFEST).path.removesuffix(MANIFEST)
    faults = []
    files = ((partition, file) for partition in (*made, manifest) for file in partition.record.files)
    there = [(partition, file) for partition, file in files if file.path.startswith(folder)]
    for partition, file in there:
        name = file.path.removeprefix(folder)
        if name == MANIFEST:
            continue
        entry = told.pop(name, None)
        if entry is None:
            faults.append(f"{name} is in no manifest")
            continue
        digest = stored_format(file.path).digest(partition.open, file.path)
        if digest != entry["xxh3_128"] or entry.get("bytes", file.bytes) != file.bytes:
            faults.append(f"{name} is not what the manifest says")
    return faults + [f"{name} is in the manifest, and not there" for name in told]


def count_faults(made: list[Partition]) -> Iterator[str]:
    """Yields a fault if the ids in files and dropped ones are not as many as in the stream with separators."""
    totals = totals_of(made)
    given, in_files = totals.get("ids", 0), sum(place.ids for one in made for place in places_of(one))
    lost = sum(numbers["ids"] for numbers in totals["dropped"].values())
    if given != in_files + lost:
        yield f"{given:,} ids were given; {in_files:,} are in files, {lost:,} are counted as dropped"
