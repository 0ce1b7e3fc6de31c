"""Finds the documents that two stores do not share, by id and digest of the text, in bounded memory."""

from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile
from typing import Any

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from corpus_assets.diff.recorded import source_of
from resources.formats.jsonl.compressions import JSONL
from resources.spill import Buckets
from resources.stage.partition import Partition

_ROW = np.dtype([("id", "<u8"), ("text", "<u8"), ("side", "u1"), ("shard", "<u4"), ("row", "<u4")])
"""Hash of the id, first bytes of the SHA-256 of the text, which side it is of, and where it is there."""

_BUCKET_ROWS = 1 << 20
_MEMORY = 1 << 26
_BLOCK = 1 << 16
OLD, NEW = 0, 1


class Changes(msgspec.Struct, omit_defaults=True):
    """The documents of one source. Those with the same id are the same document; `changed` have another text.

    Where several documents have an id, as many texts as both sides have are the same. `examples` are some ids of each.
    """

    old: int = 0
    new: int = 0
    added: int = 0
    removed: int = 0
    changed: int = 0
    examples: dict[str, list[str]] = {}


def changed_documents(old: Sequence[Partition], new: Sequence[Partition], examples: int = 5) -> dict[str, Changes]:
    """Returns how the documents of each source differ. old, new: all shards of an asset with documents.

    Shards that are equal on both sides are not read. Of the others ids and digests are, once each; rows lie in a
    temporary file, in parts that are compared one after another, so that 64 MB of memory are enough for any number.
    """
    found: dict[str, Changes] = {}
    for source in sorted({source_of(one.key) or "" for one in (*old, *new)}):
        sides = [[one for one in side if (source_of(one.key) or "") == source] for side in (old, new)]
        counts = [sum(one.file(JSONL).rows or 0 for one in side) for side in sides]
        same = {(one.key, _texts(one)) for one in sides[OLD]} & {(one.key, _texts(one)) for one in sides[NEW]}
        differing = [[one for one in side if (one.key, _texts(one)) not in same] for side in sides]
        changes = _compared(differing, examples)
        changes.old, changes.new = counts
        found[source] = changes
    return found


def _texts(shard: Partition) -> str:
    """Returns the digests of the ids and texts of a shard, in order."""
    return f"{shard.file('.ids.npy').digest} {shard.file('.texts.npy').digest}"


def _compared(sides: Sequence[Sequence[Partition]], examples: int) -> Changes:
    total = sum(one.file(JSONL).rows or 0 for side in sides for one in side)
    changes = Changes()
    if not total:
        return changes
    kept: dict[str, list[tuple[int, str]]] = {}
    with Buckets(-(-total // _BUCKET_ROWS), _ROW, _MEMORY, TemporaryFile) as buckets:
        for side, shards in enumerate(sides):
            for number, shard in enumerate(shards):
                for rows in _rows(shard, side, number):
                    buckets.append((rows["id"] % np.uint64(len(buckets))).astype(np.int64), rows)
        for number in range(len(buckets)):
            blocks = list(buckets.rows(number))
            if blocks:
                for kind, rows in _differing(np.concatenate(blocks)):
                    setattr(changes, kind, getattr(changes, kind) + len(rows))
                    held = kept.setdefault(kind, [])
                    held += [(int(row["id"]), _id(sides, row)) for row in rows[:examples]]
    found = {kind: [name for _, name in sorted(held)[:examples]] for kind, held in sorted(kept.items())}
    changes.examples = {kind: names for kind, names in found.items() if names}
    return changes


def _rows(shard: Partition, side: int, number: int) -> Iterator[NDArray[np.void]]:
    """Yields the rows of a shard, in blocks."""
    texts, characters = shard.array(".texts.npy"), shard.array(".ids.npy")
    for start in range(0, len(texts), _BLOCK):
        block = texts[start : start + _BLOCK]
        first = int(texts["id_end"][start - 1]) if start else 0
        ends = (block["id_end"].astype(np.int64) - first).tolist()
        held = characters[first : first + ends[-1]].tobytes()
        rows = np.zeros(len(block), _ROW)
        hashes = (xxhash.xxh3_64_intdigest(held[a:b]) for a, b in zip([0, *ends], ends, strict=False))
        rows["id"] = np.fromiter(hashes, np.uint64, len(block))
        rows["text"] = np.ascontiguousarray(block["digest"][:, :8]).view("<u8").ravel()
        rows["side"], rows["shard"] = side, number
        rows["row"] = np.arange(start, start + len(block))
        yield rows


def _differing(rows: NDArray[np.void]) -> Iterator[tuple[str, NDArray[np.void]]]:
    """Yields the rows that only one side has, as what they are; a changed one is the row of the new side."""
    rows = rows[np.lexsort((rows["row"], rows["shard"], rows["side"], rows["text"], rows["id"]))]
    rest = rows[_unmatched(rows, ["id", "text"])]
    alone = _unmatched(rest, ["id"])
    yield "changed", rest[~alone & (rest["side"] == NEW)]
    yield "removed", rest[alone & (rest["side"] == OLD)]
    yield "added", rest[alone & (rest["side"] == NEW)]


def _unmatched(rows: NDArray[np.void], keys: list[str]) -> NDArray[np.bool_]:
    """Returns which rows have no partner of the other side with the same keys; each has one partner at most.

    rows: sorted, by these keys first.
    """
    if not len(rows):
        return np.zeros(0, np.bool_)
    begins = np.concatenate([[True], np.logical_or.reduce([rows[key][1:] != rows[key][:-1] for key in keys])])
    group = np.cumsum(begins) - 1
    is_new = rows["side"] == NEW
    counts = np.stack([np.bincount(group, ~is_new), np.bincount(group, is_new)]).astype(np.int64)
    matched = counts.min(axis=0)[group]
    place = np.where(is_new, _place(group, is_new), _place(group, ~is_new))
    return np.asarray(place >= matched)


def _place(group: NDArray[np.int64], chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Returns for each row how many chosen rows of its group come before it."""
    before: NDArray[np.int64] = np.cumsum(chosen) - chosen
    first = np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1])
    found: NDArray[np.int64] = before - before[first][group]
    return found


def _id(sides: Sequence[Sequence[Partition]], row: Any) -> str:
    shard, number = sides[int(row["side"])][int(row["shard"])], int(row["row"])
    start = int(shard.array_rows(".texts.npy", number - 1, number)["id_end"][0]) if number else 0
    end = int(shard.array_rows(".texts.npy", number, number + 1)["id_end"][0])
    return shard.array_rows(".ids.npy", start, end).tobytes().decode("utf-8", "replace")
