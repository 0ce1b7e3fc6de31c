"""The asset `<dataset>_mixture`: how often documents are used, so that each source has the requested tokens.

A source with epochs e uses all of its documents floor(e) times, and some of them once more: those with a keyed hash
below a threshold, and a few of the next ones, so that their tokens come as close to the rest as whole documents can.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from corpus_assets.config.datasets.weights import Weights
from corpus_assets.export.documents import Documents
from corpus_assets.export.token_stream import DOCUMENTS, IDS, LENGTHS, NAMES, sums_by_source
from corpus_assets.export.weights.choosing import HASHED, chosen, mapped
from corpus_assets.export.weights.stored import StoredMix
from corpus_assets.export.weights.targets import reachable, targets_of, without_empty
from corpus_assets.export.weights.uses import Begun, Mix, Used, once_more, times_of
from corpus_assets.export.weights.uses import Documents as Uses
from resources.documents.unit_tables import NO_UNIT, UNIT, UNIT_NAMES, UNITS, unit_hash
from resources.errors import LedgerError
from resources.formats.row_tables import identifiers
from resources.hashing import keyed_hash
from resources.stage.partition import Partition
from resources.system_errors import make_room

Tables = Mapping[str, NDArray[np.void]]
"""Hash and tokens of documents, by source."""


def mixture(
    streams: Sequence[Partition],
    weights: Weights,
    where: str,
    scratch: Callable[[], BinaryIO],
    *,
    may_be_empty: Collection[str] = (),
    before: Mix | None = None,
) -> Mix:
    """Returns how each source is used. where: of the weights, for messages. scratch: opens a temporary file.

    may_be_empty: sources that the others go on without if they have no tokens. before: of the dataset before, whose
    seed is that of this one too. Raises `ConfigError` for another source without tokens, and for one that would be used
    too often.
    """
    found = {source: numbers["tokens"] for source, numbers in sums_by_source(streams).items()}
    weights = without_empty(weights, {source for source in may_be_empty if not found.get(source)}, where)

    def spilled(seed: int, begun: Mapping[str, Begun]) -> Tables:
        files = {source: scratch() for source in begun}
        _spill(streams, seed, files, begun)
        return {source: mapped(file) for source, file in files.items()}

    return used_as_asked(found, weights, f"{where}: source", spilled, before)


def mixture_of_parts(
    parts: Mapping[str, Sequence[Partition]],
    weights: Weights,
    where: str,
    scratch: Callable[[], BinaryIO],
    *,
    may_be_empty: Collection[str] = (),
) -> Mix:
    """Returns how each part is used, in the place of sources. parts: the partitions of the stream of each."""
    found = {
        part: sum(numbers["tokens"] for numbers in sums_by_source(streams).values()) for part, streams in parts.items()
    }
    weights = without_empty(weights, {part for part in may_be_empty if not found[part]}, where)

    def spilled(seed: int, begun: Mapping[str, Begun]) -> Tables:
        files = {part: scratch() for part in begun}
        for part, file in files.items():
            for stream in parts[part]:
                file.write(hashed(stream, seed).tobytes())
        return {part: mapped(file) for part, file in files.items()}

    return used_as_asked(found, weights, f"{where}: part", spilled, None)


class UnitsOfStreams:
    """The unit of each document of some partitions of a stream. Memory is that of one partition.

    streams, tables: partitions of the stream, and by their keys those with the units of documents. scratch: opens a
    temporary file, which holds the numbers of units meanwhile.
    """

    def __init__(
        self, streams: Sequence[Partition], tables: Mapping[str | None, Partition], scratch: Callable[[], BinaryIO]
    ) -> None:
        self.streams = streams
        self._scratch = scratch
        self._file = scratch()
        self.names = sorted({name for stream in streams for name in tables[stream.key].json(UNIT_NAMES)})
        self.documents = np.zeros(len(self.names), np.int64)
        self.tokens = np.zeros(len(self.names), np.int64)
        self._uses = np.zeros(len(self.names), np.int64)
        for stream in streams:
            numbers = unit_numbers(stream, tables[stream.key], self.names)
            self.documents += np.bincount(numbers, minlength=len(self.names))
            np.add.at(self.tokens, numbers, stream.array(LENGTHS).astype(np.int64))
            self._file.write(numbers.tobytes())
        self._file.flush()

    def numbers(self) -> Iterator[tuple[Partition, NDArray[np.uint16]]]:
        """Yields each partition of the stream with the number of the unit of each of its documents in `names`."""
        self._file.seek(0)
        for stream in self.streams:
            yield stream, np.frombuffer(self._file.read(2 * len(stream.array(LENGTHS))), np.uint16)

    def spilled(self, seed: int, begun: Mapping[str, Begun]) -> Tables:
        """Returns hash and tokens of the documents of some units, without those that are used already."""
        wanted = [number for number, name in enumerate(self.names) if name in begun]
        ends = np.cumsum(self.documents[wanted])
        places = dict(zip(wanted, (ends - self.documents[wanted]).tolist(), strict=True))
        starts = dict(places)
        if not wanted or not ends[-1]:
            return dict.fromkeys(begun, np.empty(0, HASHED))
        file = self._scratch()
        make_room(file, int(ends[-1]) * HASHED.itemsize)
        table = np.memmap(file, HASHED, "r+")
        for stream, numbers in self.numbers():
            rows = hashed(stream, seed)
            for number, own in _by_unit(numbers):
                if number in places:
                    was = begun[self.names[number]]
                    left = rows[own][~once_more(rows["hash"][own], was.threshold, was.others)]
                    table[places[number] : places[number] + len(left)] = left
                    places[number] += len(left)
        return {self.names[number]: table[starts[number] : places[number]] for number in wanted}

    def tables(self, mix: Mix) -> Iterator[tuple[str, NDArray[np.void]]]:
        """Yields for each partition its key, and hash and unit of its documents (`StoredMix`); counts their uses."""
        self._uses = np.zeros(len(self.names), np.int64)
        known = {name: number for number, name in enumerate(mix.units)}
        places = np.array([known.get(name, NO_UNIT) for name in self.names], np.uint16)
        for stream, numbers in self.numbers():
            table = np.empty(len(numbers), UNIT)
            table["hash"], table["unit"] = document_hashes(stream, mix.seed), places[numbers]
            for number, own in _by_unit(numbers):
                if (use := mix.units.get(self.names[number])) is not None:
                    self._uses[number] += int(times_of(table["hash"][own], use).sum())
            yield stream.key or "", table[np.unique(table["hash"], return_index=True)[1]]

    def in_documents(self, mix: Mix) -> Mix:
        """Returns a mix with what each unit has, was asked for and reached in documents, after `tables` of it."""
        numbers = {name: number for number, name in enumerate(self.names)}

        def of(name: str, use: Used) -> Used:
            available = int(self.documents[numbers[name]])
            wanted = use.target if use.asked is None else use.asked
            asked = round(wanted * available / use.available) if use.available else 0
            return replace(use, documents=Uses(available, asked, int(self._uses[numbers[name]])))

        return replace(mix, units={name: of(name, use) for name, use in mix.units.items()})


def _by_unit(numbers: NDArray[np.uint16]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yields each unit that documents are in, and which of them are."""
    order = np.argsort(numbers, kind="stable")
    found, first = np.unique(numbers[order], return_index=True)
    if len(found):
        yield from zip(found.tolist(), np.split(order, first[1:]), strict=True)


def unit_numbers(stream: Partition, table: Partition, names: Sequence[str]) -> NDArray[np.uint16]:
    """Returns the number in `names` of the unit of each document of a stream; `LedgerError` for one without a unit."""
    units, documents = table.array(UNITS), stream.array(DOCUMENTS)
    sources = stream.json(NAMES)["sources"]
    rows = zip(identifiers(documents["id_end"], stream.array(IDS)), documents["source"].tolist(), strict=True)
    hashes = np.fromiter((unit_hash(sources[source], id_) for id_, source in rows), np.uint64, len(documents))
    places = np.minimum(np.searchsorted(units["hash"], hashes), max(0, len(units) - 1))
    if len(hashes) and not (len(units) and np.array_equal(units["hash"][places], hashes)):
        raise LedgerError(f"{table.name} has no unit for some documents of {stream.name}; run `corpus build`")
    by_name = {name: number for number, name in enumerate(names)}
    numbers = np.array([by_name[name] for name in table.json(UNIT_NAMES)], np.uint16)
    return numbers[units["unit"][places]] if len(hashes) else np.empty(0, np.uint16)


def mixture_of_units(units: UnitsOfStreams, weights: Weights, where: str, before: Mix | None = None) -> Mix:
    """Returns how each unit is used; as `mixture`, but that a unit without documents is always an error."""
    found = dict(zip(units.names, units.tokens.tolist(), strict=True))
    mix = used_as_asked(found, weights, f"{where}: unit", units.spilled, before)
    return Mix(mix.seed, unused=mix.unused, units=mix.sources)


def used_as_asked(
    found: Mapping[str, int],
    weights: Weights,
    where: str,
    spilled: Callable[[int, Mapping[str, Begun]], Tables],
    before: Mix | None,
) -> Mix:
    """Returns how each source is used. found: tokens of each. where: what stands before the name of one in messages.

    spilled: returns tables with hash and tokens of documents of sources, without those that are used already.
    """
    seed, begun = (weights.seed, {}) if before is None else (before.seed, before.ends)
    targets = targets_of(weights, found, where)
    already = {source: one.tokens for source, one in begun.items()}
    allowed = reachable(targets, found, already, weights, where)
    ends = {source: _end_of(begun.get(source, Begun()), found[source], allowed[source]) for source in targets}
    files = spilled(seed, {source: end.begun for source, end in ends.items() if end.rest})
    used = {}
    for source, end in ends.items():
        threshold, others, reached = chosen(files[source], end.rest) if end.rest else (0, [], 0)
        others += [hash_ for hash_ in end.begun.others if hash_ >= threshold]
        threshold = max(threshold, end.begun.threshold)
        total = end.whole + reached
        epochs = total / found[source] if found[source] else 0.0
        one = Used(found[source], targets[source], total, round(epochs, 6), end.copies, threshold, others)
        if weights.on_excess == "share":
            one = replace(one, target=allowed[source], asked=targets[source])
        used[source] = one if before is None else replace(one, begun=begun.get(source, Begun()))
    return Mix(seed, used, {source: one for source, one in begun.items() if source not in used})


class _End(NamedTuple):
    """Where the use of a source ends.

    copies: how often all documents are used then, in all datasets together. whole: tokens of what this one uses
    without a choice. rest: tokens of the documents that are to be chosen, among those that `begun` leaves.
    """

    copies: int
    whole: int
    rest: int
    begun: Begun


def _end_of(begun: Begun, available: int, target: int) -> _End:
    """Returns where the use of a source ends that goes on from where it was left: first the epoch that was begun."""
    left = available * (begun.copies + 1) - begun.tokens
    if target < left:
        return _End(begun.copies, 0, target, begun)
    more, rest = divmod(target - left, available)
    return _End(begun.copies + 1 + more, left + more * available, rest, Begun())


def _spill(streams: Sequence[Partition], seed: int, files: Mapping[str, BinaryIO], begun: Mapping[str, Begun]) -> None:
    """Writes hash and tokens of every document of some sources, without those that are used already."""
    for stream in streams:
        names = stream.json(NAMES)["sources"]
        table = hashed(stream, seed)
        numbers = stream.array(DOCUMENTS)["source"]
        for number, name in enumerate(names):
            if name in files:
                rows = table[numbers == number]
                files[name].write(rows[~once_more(rows["hash"], begun[name].threshold, begun[name].others)].tobytes())


def hashed(stream: Partition, seed: int) -> NDArray[np.void]:
    """Returns hash and tokens of the documents of a partition."""
    table = np.empty(len(stream.array(LENGTHS)), HASHED)
    table["hash"], table["tokens"] = document_hashes(stream, seed), stream.array(LENGTHS)
    return table


def document_hashes(stream: Partition, seed: int) -> NDArray[np.uint64]:
    """Returns a keyed hash of 63 bits for each document of a partition, and for each of its uses by `epochs`."""
    table, names = stream.array(DOCUMENTS), stream.json(NAMES)["sources"]
    ids = identifiers(table["id_end"], stream.array(IDS))
    sources, copies = table["source"].tolist(), table["copy"].tolist()
    rows = zip(ids, sources, copies, strict=True)
    hashes = (document_hash(seed, names[source], id_, copy) for id_, source, copy in rows)
    return np.fromiter(hashes, np.uint64, len(table))


def document_hash(seed: int, source: str, identifier: str, copy: int) -> int:
    """Returns a keyed hash of 63 bits of one use of a document."""
    return keyed_hash("mixture", seed, source, identifier, copy) >> 1


def mixed(documents: Documents, mix: StoredMix) -> Documents:
    """Returns the documents of a partition, repeated as their sources require; in keyed order if any repeats."""
    stream = documents.stream
    numbers = stream.array(DOCUMENTS)["source"][documents.numbers]
    hashes = document_hashes(stream, mix.seed)[documents.numbers]
    times = mix.times(documents.key, hashes, stream.json(NAMES)["sources"], numbers)
    return documents.picked(np.repeat(np.arange(len(documents)), times)[mix.order(hashes, times)])
