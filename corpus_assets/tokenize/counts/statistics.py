"""Counters of a token dataset, kept while its rows are made."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.counts.by_source import BySource
from resources.stage.counts import SHOWN_ROWS

COUNTERS = "counters"
"""Counters of a partition, kept while its rows were made (`Statistics.as_dict`)."""

H5_DATASET_STATS = "h5_dataset_stats"
"""Counters of a partition, counted from its rows."""


_MOST_KEYS = 10_000
"""Different keys that are counted; rows may have any."""
_NOT_RECORDED = {"recorded": False}
_OF_ONE_FILE = {**_NOT_RECORDED, "merged": False}


@dataclass
class Statistics:
    """Counters of one file or many (`merge`), under the key names of docs/formats/cerebras-hdf5.md "Statistics".

    processed_files: documents that were read.
    discarded_files: documents of which no token can reach a row; `successful_files` are the others.
    raw_*, normalized_*: the text before and after cleaning, in code points and UTF-8 bytes.
    num_tokens: rows x sequence length.
    loss_valid_tokens: positions in the loss, whether or not the mask is stored inverted.
    num_masked_tokens: the other positions.
    num_pad_tokens: positions without a document token, counted by length: a real end-of-text id is no padding, even
        when both ids are equal.
    non_pad_tokens: the other positions.
    document_tokens: ids that went in, with the end-of-text ids.
    dropped_sequences, dropped_tokens, discarded_documents: what is in no row, by reason. A token is dropped if it is
        the label of no row, unless it is the first id of a document (packed: of the stream).
    sequence_starts: these first ids.
    unlearned_labels: labels that are out of the loss (prompts).
    sequences_before_packing: sequences that were packed into rows (variable-length modes).
    truncated_documents: documents that lost a part, by reason; their lost ids are in `dropped_tokens`.
    kinds: what documents, pairs or segments became, by name (`fim_psm`, `fim_spm` ...).
    unread_keys: number of rows with a key that nothing reads; not among the counters, since no content depends on it.
    document_lengths: number of documents by their ids before they are cut, with the end-of-text ids; stored in a
        separate table (`lengths.py`) and in no record.
    sources: some of these counts by source; of one file only.
    shown: the first discarded documents for each reason, in words; of one file only.
    reading: identity of the document that was read last, if known.
    """

    processed_files: int = 0
    discarded_files: int = 0
    n_examples: int = 0
    raw_chars_count: int = 0
    raw_bytes_count: int = 0
    normalized_chars_count: int = 0
    normalized_bytes_count: int = 0
    num_tokens: int = 0
    loss_valid_tokens: int = 0
    num_masked_tokens: int = 0
    num_pad_tokens: int = 0
    non_pad_tokens: int = 0
    document_tokens: int = 0
    sequence_starts: int = 0
    unlearned_labels: int = 0
    sequences_before_packing: int = 0
    truncated_documents: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    discarded_documents: Counter[str] = field(default_factory=Counter)
    dropped_sequences: Counter[str] = field(default_factory=Counter)
    dropped_tokens: Counter[str] = field(default_factory=Counter)
    unread_keys: Counter[str] = field(default_factory=Counter, metadata=_NOT_RECORDED)
    document_lengths: Counter[int] = field(default_factory=Counter, metadata=_NOT_RECORDED)
    sources: BySource = field(default_factory=BySource, compare=False, metadata=_OF_ONE_FILE)
    reading: str = field(default="", compare=False, metadata=_OF_ONE_FILE)
    shown: dict[str, list[str]] = field(default_factory=dict, compare=False, metadata=_OF_ONE_FILE)

    @property
    def successful_files(self) -> int:
        """Documents that were not discarded."""
        return self.processed_files - self.discarded_files

    @property
    def average_chars_per_sequence(self) -> int:
        """Raw code points per row, rounded up; 0 without rows."""
        return -(-self.raw_chars_count // self.n_examples) if self.n_examples else 0

    @property
    def average_bytes_per_sequence(self) -> int:
        """Raw UTF-8 bytes per row, rounded up; 0 without rows."""
        return -(-self.raw_bytes_count // self.n_examples) if self.n_examples else 0

    @property
    def unaccounted_tokens(self) -> int:
        """Ids that are no label, no start and not counted as dropped; must be 0 after the last row."""
        labels = self.loss_valid_tokens + self.unlearned_labels
        return self.document_tokens - labels - self.sequence_starts - self.dropped_tokens.total()

    def add_text(self, raw: str, normalized: str) -> None:
        """Count the text of one document, before and after cleaning."""
        self.raw_chars_count += len(raw)
        size = len(raw.encode())
        self.raw_bytes_count += size
        self.sources.text(size)
        self.normalized_chars_count += len(normalized)
        self.normalized_bytes_count += size if normalized is raw else len(normalized.encode())

    @property
    def sequences_per_row(self) -> float:
        """Packing factor: sequences before packing per row, to two decimals; 0 where nothing was packed."""
        return round(self.sequences_before_packing / self.n_examples, 2) if self.n_examples else 0.0

    @property
    def fill(self) -> float:
        """Share of the positions that hold tokens of documents, to six decimals; 0 without rows."""
        return round(self.non_pad_tokens / self.num_tokens, 6) if self.num_tokens else 0.0

    def add_lengths(self, sizes: NDArray[np.int64]) -> None:
        """Count documents by their length; sizes: ids of each."""
        for length, count in zip(*map(np.ndarray.tolist, np.unique(sizes, return_counts=True)), strict=True):
            self.document_lengths[length] += count

    def add_rows(self, rows: int, positions: int, real: int, loss: int) -> None:
        """Count rows: all their positions, those that hold document tokens, those in the loss."""
        self.n_examples += rows
        self.num_tokens += positions
        self.loss_valid_tokens += loss
        self.num_masked_tokens += positions - loss
        self.num_pad_tokens += positions - real
        self.non_pad_tokens += real

    def note_unread(self, keys: Iterable[str]) -> None:
        """Counts the keys of a row that nothing reads."""
        has_room = len(self.unread_keys) < _MOST_KEYS
        self.unread_keys.update(key for key in keys if has_room or key in self.unread_keys)

    def discard_document(self, reason: str, documents: int = 1, shown: Iterable[str] = ()) -> None:
        """Count documents that leave nothing behind; nothing is recorded for zero.

        shown: the documents in words (`discarded`), of which no more are asked for than are kept.
        """
        self.discarded_files += documents
        if documents:
            self.discarded_documents[reason] += documents
            held = self.shown.setdefault(reason, [])
            held += islice(shown, SHOWN_ROWS - len(held))

    def drop(self, reason: str, sequences: int, tokens: int) -> None:
        """Count what is in no row; nothing is recorded for zeros."""
        for counter, count in ((self.dropped_sequences, sequences), (self.dropped_tokens, tokens)):
            if count:
                counter[reason] += count

    def as_dict(self) -> dict[str, Any]:
        """Returns a JSON object with the counters and what follows from them; inverse of `from_dict`."""
        counters = {entry.name: getattr(self, entry.name) for entry in fields(self) if not entry.metadata}
        return {
            **{name: dict(value) if isinstance(value, Counter) else value for name, value in counters.items()},
            "successful_files": self.successful_files,
            "average_chars_per_sequence": self.average_chars_per_sequence,
            "average_bytes_per_sequence": self.average_bytes_per_sequence,
            "sequences_per_row": self.sequences_per_row,
            "fill": self.fill,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Statistics":
        """Returns counters out of a record; keys that are not counters are ignored, absent counters are 0."""
        statistics = cls()
        for entry in fields(cls):
            if entry.name in record:
                value = record[entry.name]
                setattr(statistics, entry.name, Counter(value) if isinstance(value, Mapping) else value)
        return statistics


def merge(statistics: Iterable[Statistics]) -> Statistics:
    """Returns counters of several files as one; averages follow from the sums."""
    total = Statistics()
    for part in statistics:
        for entry in (one for one in fields(Statistics) if one.metadata.get("merged", True)):
            mine, theirs = getattr(total, entry.name), getattr(part, entry.name)
            setattr(total, entry.name, mine + theirs)
    return total
