"""Counts and faults of the arrays of a dataset, for the writer while it streams and for the check of a file."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.rows.layouts import Layout
from resources.formats.hdf5.chunks import StoredBlock

B = TypeVar("B", bound=NDArray[np.int32] | StoredBlock)

NO_SIZES = np.empty(0, np.int32)
ANY_ID = 1 << 31
# In the order of the numbers in kernels/recount.py.
FAULTS = (
    "ids outside the vocabulary",
    "loss mask other than 0 and 1",
    "labels that are not the next input",
    "document tokens that are not in the loss",
    "position ids and attention spans that delimit no sequences",
    "labels on the prompt",
    "responses whose loss mask has a gap",
)


@dataclass
class H5DatasetStats:
    """Counts from the arrays alone: `h5_dataset_stats` of docs/formats/cerebras-hdf5.md "Statistics".

    num_sequences: rows.
    num_tokens: rows x L.
    non_pad_tokens: input ids other than the end-of-text and the pad id.
    loss_valid_tokens: positions in the loss, whether or not the mask is stored inverted. detokenized_bytes and
        detokenized_chars: UTF-8 bytes and code points of the text of all input ids, those of end-of-text and padding
        included, each id by itself: characters whose ids lie in two rows count where they start. A preference row
        counts both of its sides.
    """

    num_sequences: int = 0
    num_tokens: int = 0
    non_pad_tokens: int = 0
    loss_valid_tokens: int = 0
    detokenized_bytes: int = 0
    detokenized_chars: int = 0


@dataclass
class ArrayStatistics:
    """Counts and structural faults of blocks that are added one after another.

    layout: of the rows.
    eos_id, pad_id: as the rows were made with.
    vocab_size: ids lie below it (None: any id).
    sizes: UTF-8 bytes and code points by id, int32 (vocabulary,) each; without them the detokenized counts stay 0, with
        them they say the vocabulary.
    inverted_mask: the mask is 0 on positions in the loss; no preference rows have that.

    These are faults: an id below 0 or outside the vocabulary; a mask other than 0 and 1; a label, but for the last of a
    sequence, that is not the next input. Padding is what ends a row out of the loss with the pad id as input and label
    (and, in packed rows, position and span 0). Before it, rows of texts are in the loss everywhere; position ids count
    up from 0 in every sequence while spans count down to 0 on its last position. In preference rows the loss is one run
    of positions, and the labels before it are the pad id.
    """

    layout: Layout
    eos_id: int | None
    pad_id: int
    vocab_size: int | None = None
    sizes: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None
    inverted_mask: bool = False
    counts: H5DatasetStats = field(default_factory=H5DatasetStats)

    def __post_init__(self) -> None:
        if self.layout.two_sided and self.inverted_mask:
            raise ValueError("inverted_mask is set for preference rows; valid: not set")
        self._unmasked = int(self.inverted_mask)
        self._sizes = self.sizes or (NO_SIZES, NO_SIZES)
        known = self._sizes[0].size if self.sizes else self.vocab_size
        self._ids = (-1 if self.eos_id is None else self.eos_id, self.pad_id, ANY_ID if known is None else known)
        self._faulty_rows = [0] * len(FAULTS)
        self._first_rows = [0] * len(FAULTS)

    def add(self, block: NDArray[np.int32]) -> None:
        """Count the next rows; ValueError for another shape than (rows, channels, L)."""
        from corpus_assets.tokenize.kernels import recount as kernels

        layout = self.layout
        if block.ndim != 3 or block.shape[1] != layout.channels:
            raise ValueError(f"received a block of shape {block.shape}; valid: (rows, {layout.channels}, L)")
        block = np.ascontiguousarray(block, np.int32)
        rows, _, length = block.shape
        sides = (0, 3) if layout.two_sided else (0,)
        totals = np.zeros(4, np.int64)
        faults = np.zeros((rows, len(FAULTS)), np.uint8)
        for channel in sides:
            kernels.count_side(block, (channel, self._unmasked), self._ids, self._sizes, (totals, faults))
            if layout.two_sided:
                kernels.check_preference(block, channel, self.pad_id, faults)
        if not layout.two_sided:
            check = kernels.check_packed if layout.packed else kernels.check_rows
            check(block, self._unmasked, self.pad_id, layout.all_learned, faults)
        self._note(faults)
        counts = self.counts
        counts.num_sequences += rows
        counts.num_tokens += rows * length * len(sides)
        counts.non_pad_tokens += int(totals[kernels.NON_PAD])
        counts.loss_valid_tokens += int(totals[kernels.LOSS])
        counts.detokenized_bytes += int(totals[kernels.BYTES])
        counts.detokenized_chars += int(totals[kernels.CHARS])

    def watch(self, blocks: Iterable[B]) -> Iterator[B]:
        """Yields the same blocks, each counted when it is asked for."""
        for block in blocks:
            self.add(block.rows if isinstance(block, StoredBlock) else block)
            yield block

    def _note(self, faults: NDArray[np.uint8]) -> None:
        """Sum up the faults of rows that are not counted in `counts` yet."""
        for number in np.flatnonzero(faults.any(axis=0)).tolist():
            rows = np.flatnonzero(faults[:, number])
            if not self._faulty_rows[number]:
                self._first_rows[number] = self.counts.num_sequences + int(rows[0])
            self._faulty_rows[number] += rows.size

    @property
    def faults(self) -> list[str]:
        """Faults in words; each with how many rows have it, and the first of them."""
        found = zip(FAULTS, self._faulty_rows, self._first_rows, strict=True)
        return [f"{words} in {rows} rows, the first is {first}" for words, rows, first in found if rows]

    def h5_dataset_stats(self) -> dict[str, int]:
        """Returns the counts by their documented names."""
        return asdict(self.counts)
