"""Which pieces of a shard's texts are equal, and which of them no other copy in the shard makes a repetition."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.substrings.hashed import bucket_of, in_groups
from resources.spill import Buckets, Spill

ANSWER = np.dtype([("number", "<u4"), ("first", "<u4"), ("asked", "<u4"), ("is_first", "?")])
"""Of one piece: the number of its content; the windows, `asked` from `first` on, that no copy in the shard makes a
repetition; and whether it is the first copy in the shard."""

_BYTES_PER_ITEM = 512
_BUCKETS = 1 << 10
_PLACES = 1 << 16

Columns = NDArray[np.int64]


def _item_type(words: int) -> np.dtype[Any]:
    fields = [("hash", "<u8", (words,)), ("place", "<u8")]
    return np.dtype([*fields, *((name, "<u4") for name in ("row", "start", "windows", "repeats"))])


def content_type(words: int) -> np.dtype[Any]:
    """Returns the type of a row for each different content: first and last copy, and how many documents have it."""
    fields = ("row", "start", "last_row", "last_start", "documents")
    return np.dtype([("hash", "<u8", (words,)), *((name, "<u4") for name in fields)])


class Copies:
    """Collects pieces in the order of their places; then yields the different contents, and then an answer for each.

    A piece is a run of `windows` windows which stands `repeats` times, each time behind the last one. Copies that
    overlap do not count: a window is a repetition of one in another document, or at least `length` units away.

    words: of a hash; the first decides about the order of contents, by range. ranges: their number.
    both_ways: whether a later copy makes a repetition too, and not only an earlier one. memory: bytes of working set.
    """

    def __init__(
        self, words: int, length: int, ranges: int, memory: int, spill: Spill, *, both_ways: bool = False
    ) -> None:
        self._length, self._both_ways = length, both_ways
        self._memory, self._spill = memory, spill
        self._per_range = max(_BUCKETS // ranges, 1)
        self._items = Buckets(ranges * self._per_range, _item_type(words), memory // 4, spill)
        self._answers: Buckets | None = None
        self._limit = max(memory // 2 // _BYTES_PER_ITEM, 1)
        self._contents = content_type(words)
        self.total = 0
        self.starts = np.zeros(ranges + 1, dtype=np.int64)

    def __enter__(self) -> "Copies":
        return self

    def __exit__(self, *error: object) -> None:
        for held in (self._items, self._answers):
            if held is not None:
                held.__exit__(None, None, None)

    def add(
        self, hashes: NDArray[np.uint64], rows: Columns, starts: Columns, windows: Columns, repeats: Columns
    ) -> None:
        """Appends pieces (n,): their hashes (n, words), rows of their documents, and where they start there."""
        items = np.empty(len(hashes), dtype=self._items.dtype)
        items["hash"], items["place"] = hashes, np.arange(self.total, self.total + len(hashes))
        items["row"], items["start"], items["windows"], items["repeats"] = rows, starts, windows, repeats
        self._items.append(bucket_of(hashes[:, 0], len(self._items)), items)
        self.total += len(hashes)

    def contents(self) -> Iterator[NDArray[np.void]]:
        """Yields the different contents (`content_type`) in order of ranges; `starts` then has where each begins."""
        answers = _answer_type()
        self._answers = Buckets(-(-self.total // _PLACES), answers, self._memory // 4, self._spill)
        known = 0
        for first, stop in self._groups():
            parts = self._parts(first, stop)
            found = np.empty(0, dtype=self._contents)
            for items in parts():
                found = self._united(np.concatenate([found, self._one_each(items)]))
            buckets = bucket_of(found["hash"][:, 0], len(self._items))
            order = np.argsort(buckets, kind="stable")
            found = found[order]
            for items in parts():
                self._answer(found, known, items, answers)
            self.starts += np.searchsorted(buckets[order] // self._per_range, np.arange(len(self.starts)))
            known += len(found)
            yield found

    def answers(self) -> Iterator[NDArray[np.void]]:
        """Yields an answer (`ANSWER`) for each piece in the order of their places, after all contents."""
        assert self._answers is not None
        for number in range(len(self._answers)):
            start = number * _PLACES
            found = np.empty(min(_PLACES, self.total - start), dtype=ANSWER)
            for rows in self._answers.rows(number):
                places = (rows["place"] - np.uint64(start)).astype(np.int64)
                found[places] = rows["answer"]
            yield found

    def _groups(self) -> Iterator[tuple[int, int]]:
        """Yields buckets to look at together: as many as fit in memory, at least one."""
        first = held = 0
        for number in range(len(self._items)):
            size = self._items.size(number)
            if number > first and held + size > self._limit:
                yield first, number
                first, held = number, 0
            held += size
        yield first, len(self._items)

    def _parts(self, first: int, stop: int) -> Callable[[], Iterable[NDArray[np.void]]]:
        """Returns a function that yields the pieces of buckets in parts that fit in memory: mostly one."""

        def blocks() -> Iterator[NDArray[np.void]]:
            return (rows for number in range(first, stop) for rows in self._items.rows(number))

        if sum(self._items.size(number) for number in range(first, stop)) > self._limit:
            return blocks
        whole = [np.concatenate([np.empty(0, dtype=self._items.dtype), *blocks()])]
        return lambda: whole

    def _one_each(self, items: NDArray[np.void]) -> NDArray[np.void]:
        rows = np.empty(len(items), dtype=self._contents)
        rows["hash"], rows["row"], rows["start"], rows["last_row"] = (
            items[name] for name in ("hash", "row", "start", "row")
        )
        rows["last_start"] = items["start"] + items["windows"] * (items["repeats"] - 1)
        rows["documents"] = 1
        return rows

    def _united(self, rows: NDArray[np.void]) -> NDArray[np.void]:
        """Returns one row for each content; those of equal content are given in the order of their places."""
        order, firsts = in_groups(rows["hash"])
        if not len(order):
            return rows
        rows = rows[order]
        lasts = np.append(firsts[1:], len(rows)) - 1
        found = rows[firsts]
        found["last_row"], found["last_start"] = rows["last_row"][lasts], rows["last_start"][lasts]
        again = np.zeros(len(rows), dtype=np.int64)
        again[1:] = rows["last_row"][:-1] == rows["row"][1:]
        again[firsts] = 0
        found["documents"] = np.add.reduceat(rows["documents"].astype(np.int64) - again, firsts)
        return found

    def _answer(self, contents: NDArray[np.void], known: int, items: NDArray[np.void], kind: np.dtype[Any]) -> None:
        """Notes the answers for some pieces. known: the number of the first of `contents`."""
        if not len(items):
            return
        numbers = _numbers(contents["hash"], items["hash"])
        of = contents[numbers]
        windows, repeats, starts = (items[name].astype(np.int64) for name in ("windows", "repeats", "start"))
        # Copies `low` to `high` of the run are so near to the first and to the last copy that none counts for them.
        high = np.clip(-(-(self._length - (starts - of["start"])) // windows), 0, repeats)
        high[of["row"] != items["row"]] = 0
        low = np.zeros(len(items), dtype=np.int64)
        if self._both_ways:
            low = np.clip((of["last_start"].astype(np.int64) - self._length - starts) // windows + 1, 0, repeats)
            low[of["last_row"] != items["row"]] = repeats[of["last_row"] != items["row"]]
        rows = np.empty(len(items), dtype=kind)
        rows["place"] = items["place"]
        answer = rows["answer"]
        answer["number"], answer["first"] = numbers + known, low * windows
        answer["asked"] = np.maximum(high - low, 0) * windows
        answer["is_first"] = (of["row"] == items["row"]) & (of["start"] == items["start"])
        assert self._answers is not None
        self._answers.append((items["place"] // np.uint64(_PLACES)).astype(np.int64), rows)


def _answer_type() -> np.dtype[Any]:
    return np.dtype([("place", "<u8"), ("answer", ANSWER)])


def _numbers(contents: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Returns the place of each of `hashes` (n, words) among `contents` (m, words), which has all of them once."""
    order, firsts = in_groups(np.concatenate([contents, hashes]))
    groups = np.zeros(len(order), dtype=np.int64)
    groups[firsts[1:]] = 1
    places = np.empty(len(order), dtype=np.int64)
    places[order] = order[firsts][np.cumsum(groups)]
    return places[len(contents) :]


def concatenated(blocks: Iterable[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Returns all blocks as one array."""
    return np.concatenate([np.empty(0, dtype=dtype), *blocks])
