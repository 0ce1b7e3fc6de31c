"""The asset `<dataset>_mixture`: how often documents are used, so that each source has the requested tokens.

A source with epochs e uses all of its documents floor(e) times, and some of them once more: those with a keyed hash
below a threshold, and a few of the next ones, so that their tokens come as close to the rest as whole documents can.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from corpus_assets.config.datasets.weights import Weights
from corpus_assets.export.documents import Documents
from corpus_assets.export.token_stream import DOCUMENTS, IDS, LENGTHS, NAMES, sums_by_source
from corpus_assets.export.weights.uses import Begun, Mix, Used, once_more, times_of
from resources.errors import ConfigError
from resources.formats.row_tables import identifiers
from resources.hashing import keyed_hash
from resources.stage.partition import Partition

MIXTURE = "mixture.json"
_BUCKETS = 1 << 16
_BLOCK = 1 << 20
_LOOKED_AT = 1 << 12
"""Documents that are examined to come closer to a target than the next one by hash."""
_HASHED = np.dtype([("hash", "<u8"), ("tokens", "<u4")])
_RANGE_BITS = np.uint64(47)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


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

    def spilled(seed: int, begun: Mapping[str, Begun]) -> Mapping[str, BinaryIO]:
        files = {source: scratch() for source in begun}
        _spill(streams, seed, files, begun)
        return files

    return _mixture(found, weights, f"{where}: source", spilled, before)


def mixture_of_parts(
    parts: Mapping[str, Sequence[Partition]], weights: Weights, where: str, scratch: Callable[[], BinaryIO]
) -> Mix:
    """Returns how each part is used, in the place of sources. parts: the partitions of the stream of each."""
    found = {
        part: sum(numbers["tokens"] for numbers in sums_by_source(streams).values()) for part, streams in parts.items()
    }

    def spilled(seed: int, begun: Mapping[str, Begun]) -> Mapping[str, BinaryIO]:
        files = {part: scratch() for part in begun}
        for part, file in files.items():
            for stream in parts[part]:
                file.write(_hashed(stream, seed).tobytes())
        return files

    return _mixture(found, weights, f"{where}: part", spilled, None)


def _mixture(
    found: Mapping[str, int],
    weights: Weights,
    where: str,
    spilled: Callable[[int, Mapping[str, Begun]], Mapping[str, BinaryIO]],
    before: Mix | None,
) -> Mix:
    """Returns how each source is used. found: tokens of each. where: what stands before the name of one in messages.

    spilled: returns files with hash and tokens of documents of sources, without those that are used already.
    """
    seed, begun = (weights.seed, {}) if before is None else (before.seed, before.ends)
    targets, ends = _targets(weights, found, where), {}
    for source, target in targets.items():
        was, available = begun.get(source, Begun()), found[source]
        allowed = _allowed(target, available, was.tokens, weights, f"{where} {source!r}")
        ends[source] = _end_of(was, available, allowed)
    files = spilled(seed, {source: end.begun for source, end in ends.items() if end.rest})
    used = {}
    for source, end in ends.items():
        threshold, others, reached = _chosen(files[source], end.rest) if end.rest else (0, [], 0)
        others += [hash_ for hash_ in end.begun.others if hash_ >= threshold]
        threshold = max(threshold, end.begun.threshold)
        total = end.whole + reached
        epochs = total / found[source] if found[source] else 0.0
        one = Used(found[source], targets[source], total, round(epochs, 6), end.copies, threshold, others)
        used[source] = one if before is None else replace(one, begun=begun.get(source, Begun()))
    return Mix(seed, used, {source: one for source, one in begun.items() if source not in used})


def without_empty(weights: Weights, empty: Collection[str], where: str) -> Weights:
    """Returns weights that do not name some sources; `ConfigError` if they name no other."""
    asked = weights.given()
    left = {source: share for source, share in asked.items() if source not in empty}
    if len(left) == len(asked):
        return weights
    if not any(left.values()):
        raise ConfigError(f"{where}: none of {', '.join(asked)} has a document")
    return weights.model_copy(update={"shares" if weights.tokens is None else "tokens": left})


def _targets(weights: Weights, found: Mapping[str, int], where: str) -> dict[str, int]:
    """Returns the tokens that each source should have, in the order of the sources."""
    assert not isinstance(weights.shares, str), "a file is read before"
    asked: Mapping[str, float] = weights.tokens or weights.shares or {}
    asked = {source: share for source, share in asked.items() if share or source in found}
    if unknown := sorted(set(asked) - set(found)):
        raise ConfigError(f"{where} {unknown[0]!r} has no document; valid: {', '.join(found) or 'none'}")
    if weights.tokens is not None:
        return {source: int(asked[source]) for source in found if source in asked}
    total = weights.total or sum(found[source] for source in asked)
    whole = sum(asked.values())
    return {source: round(total * asked[source] / whole) for source in found if source in asked}


def _allowed(target: int, available: int, already: int, weights: Weights, where: str) -> int:
    """Returns the target of a source, or what is left of it under `max_epochs`. already: tokens used before."""
    if not available:
        raise ConfigError(f"{where} has no tokens")
    most = int(available * weights.max_epochs)
    if not target or already + target <= most:
        return target
    if weights.on_excess == "fail":
        before = f" and {already:,} in the datasets before" if already else ""
        raise ConfigError(
            f"{where} has {available:,} tokens and would need {target:,}{before}, "
            f"{(already + target) / available:.2f} epochs; valid: at most max_epochs {weights.max_epochs:g}, or "
            "`on_excess: cap`"
        )
    return max(0, most - already)


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
        table = _hashed(stream, seed)
        numbers = stream.array(DOCUMENTS)["source"]
        for number, name in enumerate(names):
            if name in files:
                rows = table[numbers == number]
                files[name].write(rows[~once_more(rows["hash"], begun[name].threshold, begun[name].others)].tobytes())


def _hashed(stream: Partition, seed: int) -> NDArray[np.void]:
    """Returns hash and tokens of the documents of a partition."""
    table = np.empty(len(stream.array(LENGTHS)), _HASHED)
    table["hash"], table["tokens"] = document_hashes(stream, seed), stream.array(LENGTHS)
    return table


def _chosen(file: BinaryIO, wanted: int) -> tuple[int, list[int], int]:
    """Returns which documents have about `wanted` tokens together, and how many these are.

    Documents are taken in the order of their hashes up to the first that no longer fits: its hash is the threshold. Of
    the next ones those are taken that still fit, and at last the smallest of the others if that comes closer; their
    hashes are returned. The hashes are counted in ranges first; only those of the ranges that are looked at are sorted.
    """
    file.flush()
    table = np.memmap(file, _HASHED, "r")
    tokens, documents = np.zeros(_BUCKETS, np.int64), np.zeros(_BUCKETS, np.int64)
    for block in _blocks(table):
        numbers = (block["hash"] >> _RANGE_BITS).astype(np.int64)
        np.add.at(tokens, numbers, block["tokens"].astype(np.int64))
        documents += np.bincount(numbers, minlength=_BUCKETS)
    first = min(int(np.searchsorted(np.cumsum(tokens), wanted, side="right")), _BUCKETS - 1)
    end = int(np.searchsorted(np.cumsum(documents), int(documents[:first].sum()) + _LOOKED_AT)) + 1
    reached = int(tokens[:first].sum())
    threshold, others = -1, []
    smallest = (2 * wanted, -1)  # A larger one comes no closer.
    for hash_, size in _sorted(table, first, end):
        if reached + size <= wanted:
            reached += size
            if threshold >= 0:
                others.append(hash_)
            continue
        smallest = min(smallest, (size, hash_))
        threshold = hash_ if threshold < 0 else threshold
    size, hash_ = smallest
    if hash_ >= 0 and reached + size - wanted < wanted - reached:
        others.append(hash_)
        reached += size
    return threshold if threshold >= 0 else min(end, _BUCKETS) << int(_RANGE_BITS), others, reached


def _sorted(table: NDArray[np.void], first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the hashes in some ranges in order, and the tokens of the documents with each."""
    rows = np.sort(np.concatenate([_of_ranges(block, first, end) for block in _blocks(table)]), order="hash")
    hashes, starts = np.unique(rows["hash"], return_index=True)
    sums = np.add.reduceat(rows["tokens"].astype(np.int64), starts) if len(rows) else np.empty(0, np.int64)
    return zip(hashes.tolist(), sums.tolist(), strict=True)


def _blocks(table: NDArray[np.void]) -> Iterator[NDArray[np.void]]:
    return (table[start : start + _BLOCK] for start in range(0, len(table), _BLOCK))


def _of_ranges(block: NDArray[np.void], first: int, end: int) -> NDArray[np.void]:
    """Returns the rows of a block whose hashes are in the ranges from the first to before the end."""
    numbers = block["hash"] >> _RANGE_BITS
    return np.array(block[(numbers >= np.uint64(first)) & (numbers < np.uint64(end))])


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


def in_keyed_order(hashes: NDArray[np.uint64], times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the order of documents that are used `times` (n,), one after another: as given, unless any repeats.

    Then it is that of another hash for each copy, so that copies lie apart.
    """
    copies = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    if times.max(initial=0) <= 1:
        return np.arange(len(copies))
    return np.argsort(scrambled(np.repeat(hashes, times), copies.astype(np.uint64)), kind="stable")


def mixed(documents: Documents, mix: Mix) -> Documents:
    """Returns the documents of a partition, repeated as their sources require; in keyed order if any repeats."""
    stream = documents.stream
    names = stream.json(NAMES)["sources"]
    numbers = stream.array(DOCUMENTS)["source"][documents.numbers]
    hashes = document_hashes(stream, mix.seed)[documents.numbers]
    times = np.zeros(len(documents), np.int64)
    for number, name in enumerate(names):
        if (use := mix.sources.get(name)) is None:
            continue
        chosen = numbers == number
        times[chosen] = times_of(hashes[chosen], use)
    return documents.picked(np.repeat(np.arange(len(documents)), times)[in_keyed_order(hashes, times)])


def scrambled(hashes: NDArray[np.uint64], copies: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Returns another hash for each copy of a document (the finalizer of splitmix64)."""
    mixed_up: NDArray[np.uint64] = hashes + (copies + np.uint64(1)) * _GOLDEN
    mixed_up = (mixed_up ^ (mixed_up >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed_up = (mixed_up ^ (mixed_up >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: NDArray[np.uint64] = mixed_up ^ (mixed_up >> np.uint64(31))
    return found


def mix_of(partition: Partition) -> Mix:
    """Returns the mix stored in a partition."""
    return msgspec.convert(partition.json(MIXTURE), Mix)
