"""The rows of a file: windows of the ids of a partition, or its documents whole."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.window_exports import UnitExport
from corpus_assets.export.documents import Documents
from corpus_assets.export.format import Files, Place
from resources.errors import CorpusError

MOST_IDS = 2**30 - 2**16
"""Ids that a unit may have, so that its bytes are counted in 32 bits."""


@dataclass(frozen=True)
class Units:
    """The units of one partition. Memory is that of their sizes.

    sizes: int64 (units,), ids of each; they follow each other from the first id of `documents` on. step: ids from the
    beginning of one to that of the next; 0 where they are documents.
    """

    documents: Documents
    sizes: NDArray[np.int64]
    step: int

    @classmethod
    def of(cls, section: UnitExport, documents: Documents, files: Files) -> "Units":
        """Returns the units that a section asks for; what is in none of them is counted in `files`."""
        if section.unit == "window":
            return cls.windows(documents, section.sequence_length, files, keep_tail=section.keep_tail)
        longest = int(documents.sizes.max(initial=0))
        if longest > MOST_IDS:
            number = documents.numbers[documents.sizes.argmax()]
            raise CorpusError(
                f"{documents.stream.name}: document {number} has {longest:,} ids; valid with `unit: document`: at most "
                f"{MOST_IDS:,}, or `unit: window`"
            )
        return cls(documents, documents.sizes, 0)

    @classmethod
    def windows(cls, documents: Documents, length: int, files: Files, *, keep_tail: bool = False) -> "Units":
        """Returns windows of `length` ids, and the shorter last one if it is kept; else `files` counts its ids."""
        full, rest = divmod(documents.ids, length)
        sizes = np.full(full, length, np.int64)
        if keep_tail and rest:
            sizes = np.append(sizes, rest)
        else:
            files.drop("tail", ids=rest)
        return cls(documents, sizes, length)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Returns where in the ids each unit begins, and where the last one ends (units + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def _document_ends(self) -> NDArray[np.int64]:
        return np.cumsum(self.documents.sizes)

    def place(self, path: str, first: int, end: int) -> Place:
        """Returns where the units of a file come from, which holds those from `first` to `end`."""
        start, stop = int(self.starts[first]), int(self.starts[end])
        document = int(self.documents.numbers[np.searchsorted(self._document_ends, start, side="right")])
        return Place(path, 0, end - first, self.documents.key, document, start, stop - start, self.step)

    def positions(self, first: int, end: int) -> NDArray[np.int32]:
        """Returns for each id of a range of units how many ids of its document come before it in its unit."""
        start, stop = self.starts[first], self.starts[end]
        document_starts = self._document_ends - self.documents.sizes
        inside = slice(*np.searchsorted(document_starts, [start, stop]))
        begins = np.union1d(self.starts[first:end], document_starts[inside]) - start
        lengths = np.diff(begins, append=stop - start)
        found: NDArray[Any] = np.arange(stop - start, dtype=np.int32) - np.repeat(begins.astype(np.int32), lengths)
        return found
