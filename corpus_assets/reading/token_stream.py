"""A token stream opened for reading: any document by its number."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.reading.errors import ReadingError
from corpus_assets.reading.origins import Origin, RawRow
from corpus_assets.reading.partition import StreamPartition
from corpus_assets.reading.separated import SeparatedIds, Separators
from resources.formats.token_streams import DATA, LENGTHS, NOWHERE
from resources.hashing import content_digest
from resources.raw_places.addresses import scheme_of
from resources.storage.interface import Storage
from resources.storage.local.store import LocalStorage


class TokenStream:
    """The documents of all partitions of a token stream, those of one partition after another in the order of keys.

    `stream[i]` is the ids of document i, unsigned and read-only, straight from the mapped file; `len(stream)` is the
    number of documents. ids: how many ids they have together. dtype: type of the ids. separators: those that windows
    have unless they are told others; None if the stream was not told.

    The files are looked for once, when the stream is opened. It may be pickled, and used after a fork.
    """

    def __init__(self, folder: str | Path, *, manifest: str | Path | None = None) -> None:
        """Opens the stream in a folder, such as `corpus/token_streams/decontaminated_train`.

        manifest: the `manifest.json` of an export, whose separators the stream takes over.
        """
        if scheme_of(str(folder)):
            raise ReadingError("received an address; valid: a folder, or TokenStream.of_corpus(file, name)")
        storage = LocalStorage(Path(folder).absolute())
        self._open(storage, _keys(storage), Separators.of_manifest(manifest) if manifest is not None else None)

    @classmethod
    def of_store(cls, storage: Storage, paths: list[str], separators: Separators | None = None) -> "TokenStream":
        """Opens partitions of a store. paths: of their files, without suffixes, in the order in which they are read."""
        stream = cls.__new__(cls)
        stream._open(storage, paths, separators)
        return stream

    @classmethod
    def of_corpus(cls, file: str | Path, name: str) -> "TokenStream":
        """Opens a stream of a corpus by its `corpus.yaml`; its separator is end-of-text after each document.

        name: `decontaminated_train` or the like. Raises `ReadingError` if the corpus has no such stream, or if a
        partition of it is not built.
        """
        from corpus_assets.reading.of_corpus import find_stream

        found = find_stream(file, name)
        stream = cls.of_store(found.storage, found.paths, Separators(after=found.end_of_text))
        stream._corpus = Path(file).absolute()
        return stream

    def _open(self, storage: Storage, paths: list[str], separators: Separators | None) -> None:
        self._corpus: Path | None = None
        self._of_source: dict[str, list[StreamPartition]] = {}
        if not paths:
            raise ReadingError(f"{storage.place} holds no partition of a token stream (*{DATA})")
        self.partitions = [StreamPartition(storage, path) for path in paths]
        self.separators = separators
        self._firsts = np.cumsum([0, *(partition.documents for partition in self.partitions)], dtype=np.int64)
        self.ids = sum(partition.ids for partition in self.partitions)
        self.dtype = self.partitions[0].dtype
        for partition in self.partitions:
            if partition.dtype != self.dtype:
                raise ReadingError(f"{partition.path} holds {partition.dtype}, the partitions before it {self.dtype}")

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def __getitem__(self, number: int) -> NDArray[Any]:
        partition, document = self._of(number)
        return partition.document(document)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[number] for number in range(len(self)))

    def origin(self, number: int) -> Origin:
        """Returns where a document comes from."""
        partition, document = self._of(number)
        row = partition.table[document]
        begin = int(partition.table[document - 1]["id_end"]) if document else 0
        id_ = partition.id_bytes[begin : int(row["id_end"])].tobytes().decode("utf-8", "surrogatepass")
        place = None if row["row"] == NOWHERE else int(row["row"])
        return Origin(id_, partition.sources[row["source"]], place, int(row["copy"]))

    def length_of(self, number: int) -> int:
        """Returns how many ids a document has."""
        partition, document = self._of(number)
        return int(partition.lengths[document])

    def raw_rows(self, numbers: Sequence[int]) -> list[RawRow | None]:
        """Returns the raw file and row of each document, which takes milliseconds for each; many at once take fewer.

        They are those of the corpus as it is now. None if the stream was not opened by a corpus.yaml.
        """
        if self._corpus is None:
            return [None] * len(numbers)
        from corpus_assets.reading.of_corpus import raw_rows

        return list(raw_rows(self._corpus, [(self._of(number)[0].key, self.origin(number)) for number in numbers]))

    @property
    def sources(self) -> list[str]:
        """The names of the sources of all documents, sorted."""
        return sorted({source for partition in self.partitions for source in partition.sources})

    def layout_digest(self, source: str | None = None) -> str:
        """Returns a digest of the keys of all partitions, and of the places of documents in them that are known.

        source: only of its documents.
        """
        parts = [(partition.key.encode(), partition.blocks.tobytes()) for partition in self._parts(source)]
        return content_digest(*(part for both in parts for part in both))

    def separated(self, separators: Separators, source: str | None = None) -> SeparatedIds:
        """Returns the ids of all documents, or of those of a source, as one list, with separators."""
        return SeparatedIds(self._parts(source), separators)

    def _parts(self, source: str | None) -> list[StreamPartition]:
        if source is None:
            return self.partitions
        if source not in self._of_source:
            if source not in self.sources:
                raise ReadingError(f"the stream has no source {source!r}; valid: {', '.join(self.sources) or 'none'}")
            self._of_source[source] = [partition.of_source(source) for partition in self.partitions]
        return self._of_source[source]

    def _of(self, number: int) -> tuple[StreamPartition, int]:
        if not -len(self) <= number < len(self):
            raise IndexError(f"document {number} of {len(self)}")
        number %= len(self)
        place = int(np.searchsorted(self._firsts, number, side="right")) - 1
        return self.partitions[place], number - int(self._firsts[place])


def _keys(storage: Storage) -> list[str]:
    """Returns the keys of the partitions in a folder, those that lack a file too, so that it is missed."""
    files = [entry.path for entry in storage.entries("") if "/" not in entry.path]
    return sorted({file.removesuffix(suffix) for file in files for suffix in (DATA, LENGTHS) if file.endswith(suffix)})
