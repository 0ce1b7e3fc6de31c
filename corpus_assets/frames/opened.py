"""A corpus whose frames can be asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from corpus_assets.frames import counted, recorded, streamed
from corpus_assets.frames.look import Look
from corpus_assets.viewer.opened import View

if TYPE_CHECKING:
    from pandas import DataFrame

CONFIG = "corpus.yaml"


def open_frames(path: str | Path = CONFIG) -> Frames:
    """Opens a corpus to look at it; nothing in it is changed.

    path: its corpus.yaml, or the folder of that. `ConfigError` if there is none, or if it is wrong.
    """
    given = Path(path)
    return Frames(given / CONFIG if given.is_dir() else given)


class Frames:
    """The frames of one corpus. Its corpus.yaml is read once; each method looks at what is built at that moment.

    Columns have the same names and types whatever is built. A value that is not known or not counted is missing
    (`pandas.NA`), never 0. Sums over records are those of the report.
    """

    def __init__(self, file: Path) -> None:
        self._corpus = View(file.absolute()).corpus

    def __repr__(self) -> str:
        return f"<frames of {self._corpus.config.name}: {self._corpus.file}, {self._corpus.storage.place}>"

    def _look(self) -> Look:
        return Look(self._corpus, self._corpus.planner())

    def records(self) -> DataFrame:
        """Returns a row for each built partition that the corpus should have, in the order the data flows.

        - asset, group: category
        - partition: string; missing for an asset of the whole corpus
        - source: category; of the raw file that the partition is of; missing for others
        - rows_in, rows_out: Int64; rows read and written, of the asset's kind
        - dropped: Int64; rows dropped, for whatever reason
        - text_bytes: Int64; bytes of UTF-8 of the texts written
        - files: Int64
        - stored_bytes: Int64; bytes of all files as they are stored
        - seconds, cpu_seconds: Float64; seconds that it took
        - created: datetime64[ns, UTC]; when it was committed
        - code_version: string
        - digest: string; of the content
        """
        return recorded.records(self._look())

    def plan(self) -> DataFrame:
        """Returns a row for each partition that the corpus should have, and for each that it should no longer have.

        - asset: category
        - partition: string; missing for an asset of the whole corpus
        - source: category; of the raw file that the partition is of; missing for others
        - status: category; fresh, missing, stale, waiting or orphan
        - reason: string; why it is not fresh; empty if it is
        - waits_for: string; the first input that is not fresh, or the gate that is closed; empty for none
        - failure: string; the error of the last build over the same inputs; empty for none
        """
        return recorded.plan(self._look())

    def dropped(self) -> DataFrame:
        """Returns a row for each partition, source and reason for which rows were dropped.

        - asset: category; that dropped them
        - partition: string; missing for an asset of the whole corpus
        - source: category; missing where rows were not counted by source
        - reason: string
        - rows: Int64; dropped rows
        - unit: category; what the rows are
        """
        return recorded.dropped(self._look())

    def histograms(self) -> DataFrame:
        """Returns a row for each range of scores of each attribute key; the records have them, no data are read.

        The score of a document is the sum of the scores of its spans.

        - asset: category
        - key: string; of the attribute
        - low, high: Float64; the scores from low on, below high; missing in the row of documents without a span
        - documents: Int64; with such a score
        """
        return recorded.histograms(self._look())

    def splits(self) -> DataFrame:
        """Returns a row for each split and source.

        - split: category
        - source: category; missing where there are none, or none were counted by source
        - documents: Int64
        - text_bytes: Int64; bytes of UTF-8
        - built, partitions: Int64; how many partitions the numbers are of, and how many there should be
        """
        return counted.splits(self._look())

    def datasets(self) -> DataFrame:
        """Returns a row for each dataset.

        - dataset: category
        - format: string
        - split: category; that it is made of; missing for one with files of its own or made of other datasets
        - sequence_length: Int64; tokens of a row; missing where rows have no fixed length
        - rows: Int64; of HDF5 files, else windows or documents
        - documents: Int64
        - tokens: Int64; with separators, without padding
        - loss_tokens: Int64; labels in the loss; missing for formats that have none
        - slots: Int64; token positions of all rows, padding included; missing for other formats than HDF5
        - built, partitions: Int64; how many partitions the numbers are of, and how many there should be
        """
        return counted.datasets(self._look())

    def tokens(self) -> DataFrame:
        """Returns a row for each dataset and source.

        - dataset: category
        - split: category; that it is made of; missing for one with files of its own or made of other datasets
        - source: category; missing where there are none, or none were counted by source
        - documents: Int64; that were read, those included that the dataset discards
        - text_bytes: Int64; bytes of UTF-8 of these documents
        - tokens: Int64; made of them; with separators in HDF5, without in other formats
        - loss_tokens: Int64; labels in the loss; missing where they are not counted
        - built, partitions: Int64; how many partitions the numbers are of, and how many there should be
        """
        return counted.tokens(self._look())

    def documents(
        self,
        asset: str = "normalized_documents",
        partitions: Iterable[str] | None = None,
        *,
        block_bytes: int = streamed.BLOCK_BYTES,
    ) -> Iterator[DataFrame]:
        """Yields documents in the order in which they are stored; a frame holds those of one partition.

        asset: one whose rows are documents, such as `filtered_documents` or `train`. partitions: their keys; by default
        all that the asset should have. block_bytes: a partition with more bytes of lines gives several frames. There
        is at least one frame, if need be without rows, so that `pandas.concat` can take them.

        Raises `NotBuiltError` for a partition that is not built, `ConfigError` for an asset or a key that there is not,
        or for rows that are no documents, and `DamagedFileError` at the end of a file that is not what was written.

        - partition: string
        - row: Int64; number of the document in the partition, from 0
        - id: string
        - source: category
        - text: string
        - text_bytes: Int64; bytes of UTF-8
        - added, created: string; as they were given; missing if they were not
        - metadata: string; JSON, as it was given; missing if there is none
        """
        return streamed.documents(self._look(), asset, partitions, block_bytes)

    def attributes(
        self, asset: str, partitions: Iterable[str] | None = None, *, block_bytes: int = streamed.BLOCK_BYTES
    ) -> Iterator[DataFrame]:
        """Yields a row for each span that an asset of attributes gives, in the order of the documents.

        A document without spans has no row; `partition` and `row` are those of `documents`. asset: such as
        `quality_attributes` or `duplicates`. Arguments, frames and errors: see `documents`.

        - partition: string
        - row: Int64; number of the document in the partition, from 0
        - id: string; of the document
        - source: category
        - key: string; of the attribute
        - start, end: Int64; code points of the text, end not included
        - score: Float64
        """
        return streamed.attributes(self._look(), asset, partitions, block_bytes)
