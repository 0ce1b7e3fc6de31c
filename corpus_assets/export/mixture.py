"""The asset `<dataset>_mixture`: how often documents are used, so that each source has the requested tokens.

A source with epochs e uses all of its documents floor(e) times, and some of them once more: those with a keyed hash
below a threshold, and a few of the next ones, so that their tokens come as close to the rest as whole documents can.
"""

import csv
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.weights import Weights
from corpus_assets.export.documents import Documents
from corpus_assets.export.token_stream import DOCUMENTS, IDS, LENGTHS, NAMES, sums_by_source
from resources.errors import BadFileError, ConfigError
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


class Used(msgspec.Struct):
    """How a source is used: existing, requested and reached tokens, and epochs.

    Documents are used `copies` times, and once more if their hash is below `threshold` or among the `others`.
    """

    available: int
    target: int
    reached: int
    epochs: float
    copies: int
    threshold: int
    others: list[int]


class Mix(msgspec.Struct):
    """The content of `mixture.json`: how each source is used, and the seed of the choice and order of documents."""

    seed: int
    sources: dict[str, Used]


def mixture(
    streams: Sequence[Partition],
    weights: Weights,
    where: str,
    scratch: Callable[[], BinaryIO],
    may_be_empty: Collection[str] = (),
) -> dict[str, Used]:
    """Returns how each source is used. where: of the weights, for messages. scratch: opens a temporary file.

    may_be_empty: sources that the others go on without if they have no tokens. Raises `ConfigError` for another source
    without tokens, and for one that would be used too often.
    """
    found = {source: numbers["tokens"] for source, numbers in sums_by_source(streams).items()}
    weights = without_empty(weights, {source for source in may_be_empty if not found.get(source)}, where)
    return _mixture(found, weights, f"{where}: source", scratch, partial(_spill, streams, weights.seed))


def mixture_of_parts(
    parts: Mapping[str, Sequence[Partition]], weights: Weights, where: str, scratch: Callable[[], BinaryIO]
) -> dict[str, Used]:
    """Returns how each part is used, in the place of sources. parts: the partitions of the stream of each."""
    found = {
        part: sum(numbers["tokens"] for numbers in sums_by_source(streams).values()) for part, streams in parts.items()
    }
    return _mixture(found, weights, f"{where}: part", scratch, partial(_spill_parts, parts, weights.seed))


def _mixture(
    found: Mapping[str, int],
    weights: Weights,
    where: str,
    scratch: Callable[[], BinaryIO],
    spill: Callable[[Mapping[str, BinaryIO]], None],
) -> dict[str, Used]:
    """Returns how each source is used. found: tokens of each. where: before the name of one, for messages.

    spill: writes hash and tokens of documents, by source.
    """
    targets = _targets(weights, found, where)
    used = {}
    split = {source: _epochs(source, targets, found, weights, where) for source in targets}
    parts = {source: tokens for source, (_, tokens) in split.items() if tokens}
    files = {source: scratch() for source in parts}
    spill(files)
    for source, (copies, rest) in split.items():
        threshold, others, reached = _chosen(files[source], rest) if rest else (0, [], 0)
        total = copies * found[source] + reached
        epochs = total / found[source] if found[source] else 0.0
        used[source] = Used(found[source], targets[source], total, round(epochs, 6), copies, threshold, others)
    return used


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


def _epochs(
    source: str, targets: Mapping[str, int], found: Mapping[str, int], weights: Weights, where: str
) -> tuple[int, int]:
    """Returns how often all documents of a source are used, and the tokens of those that are used once more."""
    available, target = found[source], targets[source]
    if not available:
        raise ConfigError(f"{where} {source!r} has no tokens")
    most = int(available * weights.max_epochs)
    if target > most:
        if weights.on_excess == "fail":
            raise ConfigError(
                f"{where} {source!r} has {available:,} tokens and would need {target:,}, "
                f"{target / available:.2f} epochs; valid: at most max_epochs {weights.max_epochs:g}, or "
                "`on_excess: cap`"
            )
        target = most
    return divmod(target, available)


def _spill(streams: Sequence[Partition], seed: int, files: Mapping[str, BinaryIO]) -> None:
    """Writes hash and tokens of every document of some sources."""
    for stream in streams:
        names = stream.json(NAMES)["sources"]
        table = _hashed(stream, seed)
        numbers = stream.array(DOCUMENTS)["source"]
        for number, name in enumerate(names):
            if name in files:
                files[name].write(table[numbers == number].tobytes())


def _spill_parts(parts: Mapping[str, Sequence[Partition]], seed: int, files: Mapping[str, BinaryIO]) -> None:
    """Writes hash and tokens of every document of some parts."""
    for part, file in files.items():
        for stream in parts[part]:
            file.write(_hashed(stream, seed).tobytes())


def _hashed(stream: Partition, seed: int) -> NDArray[np.void]:
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


def times_of(hashes: NDArray[np.uint64], use: Used) -> NDArray[np.int64]:
    """Returns how often documents of a source are used, (n,) like their hashes."""
    once_more = (hashes < np.uint64(use.threshold)) | np.isin(hashes, np.array(use.others, np.uint64))
    return use.copies + once_more.astype(np.int64)


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


def shares_of(content: bytes, path: str) -> dict[str, float]:
    """Returns the weights of a CSV with the columns `domain` and `weight`; `BadFileError` for anything else."""
    try:
        shares = dict(_rows(content.decode("utf-8-sig"), path))
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadFileError(path, f"is no CSV in UTF-8: {error}") from None
    if not any(shares.values()):
        raise BadFileError(path, "has no weight above 0")
    return shares


def _rows(text: str, path: str) -> Iterator[tuple[str, float]]:
    reader = csv.DictReader(text.splitlines())
    if not {"domain", "weight"} <= set(reader.fieldnames or ()):
        found = ", ".join(reader.fieldnames or ()) or "none"
        raise BadFileError(path, f"columns are {found}; valid: domain, weight")
    seen: set[str] = set()
    for number, row in enumerate(reader, 2):
        domain, given = row["domain"], row["weight"]
        try:
            weight = float(given)
        except (TypeError, ValueError):
            weight = -1.0
        if not domain or domain in seen or not 0 <= weight < float("inf"):
            raise BadFileError(
                path, f"line {number}: {domain!r}, {given!r}; valid: each domain once, a weight from 0 up"
            )
        seen.add(domain)
        yield domain, weight


def mix_of(partition: Partition) -> Mix:
    """Returns the mix stored in a partition."""
    return msgspec.convert(partition.json(MIXTURE), Mix)
