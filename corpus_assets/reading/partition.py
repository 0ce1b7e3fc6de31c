"""One partition of a token stream: its arrays, mapped, and how many ids lie before every so many documents."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.reading.errors import ReadingError
from resources.formats.arrays import read_rows, whole
from resources.formats.token_streams import DATA, DOCUMENT, DOCUMENTS, IDS, LENGTHS, NAMES
from resources.storage.fetched import fetched
from resources.storage.interface import Storage

BLOCK_DOCUMENTS = 1 << 13
"""Documents between two stored places; the lengths between are added up, which takes about a microsecond."""
ALL, NONE = -1, -2
_OF_ALL = np.empty(0, DOCUMENT)["source"]
_OF_ALL.flags.writeable = False
_MAPPED = ("data", "lengths", "table", "sources", "id_bytes")


def _contents(path: str) -> memoryview:
    # Not numpy's memmap, which keeps a file open as long as the array exists; streams have thousands.
    import pyarrow as pa

    with pa.memory_map(path) as file:
        return memoryview(file.read_buffer())


class StreamPartition:
    """A partition, in a store. What is in memory is 32 bytes for every `BLOCK_DOCUMENTS` documents.

    path: of its files, without their suffixes. dtype: type of the ids. blocks: int64 (n + 1, 3): documents, ids, and
    documents that have any, before every `BLOCK_DOCUMENTS`-th document, and in all. begins: int64 (n + 1,): ids in the
    data before each of these. source: number of the only source whose documents count in `blocks`, `ids` and `runs`
    (`of_source`); `ALL`, or `NONE` if the partition has none of it.

    Files are fetched and mapped at their first use; only the lengths are read when the object is made. Pickled, it
    goes without them. Raises `ReadingError` if a file is missing or they contradict each other.
    """

    def __init__(self, storage: Storage, path: str) -> None:
        self._storage = storage
        self.path = path
        self.documents = len(self.lengths)
        self.source = ALL
        self.blocks = self._blocks()
        self.begins = np.ascontiguousarray(self.blocks[:, 1])
        self.dtype = self._data_type()

    def of_source(self, source: str) -> "StreamPartition":
        """Returns this partition with the documents of a source alone; they keep their numbers."""
        view = StreamPartition.__new__(StreamPartition)
        view.__dict__.update(self.__dict__)
        view.source = self.sources.index(source) if source in self.sources else NONE
        view.blocks = view._blocks()
        return view

    @property
    def ids(self) -> int:
        """How many ids its documents have."""
        return int(self.blocks[-1, 1])

    @property
    def chosen(self) -> tuple[NDArray[np.uint32], int]:
        """The source of each document (documents,), and that whose documents count; nothing and `ALL` if all do."""
        return (_OF_ALL, ALL) if self.source == ALL else (self.table["source"], self.source)

    @property
    def key(self) -> str:
        """Its key."""
        return self.path.rpartition("/")[2]

    @cached_property
    def data(self) -> NDArray[Any]:
        """The ids of all documents (ids,), unsigned."""
        return self._require_rows(self._mapped(DATA), int(self.begins[-1]), DATA)

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        """How many ids each document has (documents,)."""
        found = self._mapped(LENGTHS)
        if found.dtype != np.int32 or found.ndim != 1:
            raise ReadingError(f"{self.path}{LENGTHS} holds {found.dtype} {found.shape}; valid: int32 (documents,)")
        return found

    @cached_property
    def table(self) -> NDArray[Any]:
        """Where each document comes from, `DOCUMENT` (documents,)."""
        found = self._require_rows(self._mapped(DOCUMENTS), self.documents, DOCUMENTS)
        if found.dtype != DOCUMENT:
            raise ReadingError(f"{self.path}{DOCUMENTS} holds {found.dtype}; valid: {DOCUMENT}")
        return found

    @cached_property
    def id_bytes(self) -> NDArray[np.uint8]:
        """The ids by which documents are known, as UTF-8 one after another."""
        return self._mapped(IDS)

    @cached_property
    def sources(self) -> list[str]:
        """Names of the sources by number."""
        with self._readable(NAMES) as path, self._storage.open(path) as file:
            return msgspec.json.decode(file.read(), type=dict[str, list[str]])["sources"]

    def document(self, number: int) -> NDArray[Any]:
        """Returns the ids of a document, read-only."""
        block = number // BLOCK_DOCUMENTS
        first = int(self.blocks[block, 0])
        start = int(self.begins[block]) + int(self.lengths[first:number].sum(dtype=np.int64))
        return self.data[start : start + int(self.lengths[number])]

    def runs(self, begin: int, end: int, around: int) -> Iterator[tuple[int, int, int]]:
        """Yields of which documents the ids from `begin` to before `end` are: number, first of its ids, how many.

        Ids are counted with the `around` separators of each document that has any.
        """
        befores = self.blocks @ np.array([0, 1, around])
        block = int(np.searchsorted(befores, begin, side="right")) - 1
        while begin < end:
            first, last = self.blocks[block : block + 2, 0].tolist()
            lengths = self._counted(first, last)
            sizes = lengths + around * (lengths > 0)
            stops = befores[block] + np.cumsum(sizes)
            for number in range(int(np.searchsorted(stops, begin, side="right")), len(sizes)):
                if (count := min(end, int(stops[number])) - begin) > 0:
                    yield first + number, begin - int(stops[number] - sizes[number]), count
                    begin += count
            block += 1

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _MAPPED}

    def _mapped(self, suffix: str) -> NDArray[Any]:
        with self._readable(suffix) as path:
            return whole(fetched(self._storage, path, _contents), path)

    def _counted(self, first: int, last: int) -> NDArray[np.int64]:
        """Returns how many ids documents have, (last - first,); 0 for those that do not count."""
        lengths = self.lengths[first:last].astype(np.int64)
        return lengths if self.source == ALL else lengths * (self.table["source"][first:last] == self.source)

    def _blocks(self) -> NDArray[np.int64]:
        found = np.zeros((-(-self.documents // BLOCK_DOCUMENTS) + 1, 3), np.int64)
        for number in range(len(found) - 1):
            block = self._counted(number * BLOCK_DOCUMENTS, (number + 1) * BLOCK_DOCUMENTS)
            if block.min() < 0:
                raise ReadingError(f"{self.path}{LENGTHS}: a document of {block.min()} ids")
            found[number + 1] = len(block), block.sum(), np.count_nonzero(block)
        return found.cumsum(axis=0)

    def _data_type(self) -> np.dtype[Any]:
        """Returns the type of the ids, from the header of their file."""
        with self._readable(DATA) as path:
            found = read_rows(lambda offset, size: self._storage.read(path, offset, size), path, self.ids, self.ids)
        if found.dtype.kind != "u" or found.ndim != 1:
            raise ReadingError(f"{path} holds {found.dtype} {found.shape}; valid: an unsigned type, (ids,)")
        return found.dtype

    @contextmanager
    def _readable(self, suffix: str) -> Iterator[str]:
        """Gives the path of a file; `ReadingError` for a file that cannot be read."""
        path = f"{self.path}{suffix}"
        try:
            yield path
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ReadingError(f"{self._storage.place}/{path} cannot be read: {error}") from None

    def _require_rows(self, array: NDArray[Any], rows: int, suffix: str) -> NDArray[Any]:
        if len(array) != rows:
            raise ReadingError(f"{self.path}{suffix} has {len(array)} rows; {rows} were expected")
        return array
