"""Language-modelling rows: documents to token windows, packed or one document at a time.

A window is a slice of at most L + 1 ids. Its row has all but the last id as inputs and all but the first as
labels, so labels are the inputs shifted by one, and neighbouring windows share one id (specs/cerebras-hdf5.md
section 4).
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from corpus_assets.tokenize.statistics import Statistics
from resources.errors import ConfigError
from resources.hashing import keyed_hash

Ids = NDArray[np.int32]
TokenList = Sequence[int] | NDArray[np.integer]

BLOCK_TOKENS = 1 << 19
SHORTEST_CUT = 2


@dataclass(frozen=True)
class LMDataSettings:
    """How documents become rows; names after specs/cerebras-hdf5.md section 13.

    sequence_length: L, positions per row.
    pack: cut the stream of all documents into full rows; otherwise a row holds ids of one document.
    keep_tail: the last, incomplete window of a packed stream becomes a padded row (False: it is dropped and
    counted).
    min_sequence_length: shorter windows (ids, the shared one included) are dropped; no rule for the packed
    tail.
    short_sequence_probability: share of windows that keep only their first 2 to L - 1 ids; the rest is lost.
    seed, short_sequence_draws: `keyed` draws from a hash of (seed, ids of the window); `reference` replays
    one generator over all windows of the run, as the original does.
    split_text, remove_bos_in_pieces: passed to `tokenizers.encode_texts`.
    inverted_mask: the stored loss mask has 0 on real positions and 1 on padding.
    """

    sequence_length: int
    pack: bool = True
    keep_tail: bool = True
    min_sequence_length: int = 6
    short_sequence_probability: float = 0.0
    seed: int = 0
    short_sequence_draws: Literal["keyed", "reference"] = "keyed"
    split_text: int | None = None
    remove_bos_in_pieces: bool = False
    inverted_mask: bool = False

    def __post_init__(self) -> None:
        length = self.sequence_length
        if length < 1:
            raise ConfigError(f"sequence_length is {length}; valid: 1 or more")
        if not 0 <= self.short_sequence_probability <= 1:
            raise ConfigError(f"short_sequence_probability is {self.short_sequence_probability}; valid: 0 to 1")
        if self.short_sequence_probability and length <= SHORTEST_CUT:
            raise ConfigError(f"sequence_length is {length}; valid with short sequences: 3 or more")
        if self.min_sequence_length > length + 1:
            raise ConfigError(f"min_sequence_length is {self.min_sequence_length}; valid: at most {length + 1}")
        if self.split_text is not None and self.split_text < 1:
            raise ConfigError(f"split_text is {self.split_text}; valid: 1 or more characters, or none")


def lmdata_rows(
    token_lists: Iterable[TokenList],
    settings: LMDataSettings,
    eos_id: int | None,
    pad_id: int,
    statistics: Statistics | None = None,
) -> Iterator[Ids]:
    """Rows of a stream of documents, as int32 blocks (rows, 3, L): inputs, loss mask, labels.

    `token_lists` holds the ids of one document each; `eos_id`, if any, is appended to every one. Memory is
    bounded by the block size and the longest document. What is in no row is counted in `statistics`.
    """
    builder = RowBuilder(settings, eos_id, pad_id, statistics if statistics is not None else Statistics())
    yield from builder.rows(token_lists)
    yield from builder.finish()


class RowBuilder:
    """Builds rows from several streams in turn; packing carries the remainder from one to the next.

    `remainder` holds the ids of the packed stream that fill no window yet, the first of them shared with the
    last row. `block_rows` bounds the rows of a block and has no influence on their content.
    """

    def __init__(
        self,
        settings: LMDataSettings,
        eos_id: int | None,
        pad_id: int,
        statistics: Statistics,
        block_rows: int | None = None,
    ) -> None:
        self.settings = settings
        self.statistics = statistics
        self.remainder: Ids = np.empty(0, np.int32)
        self._length = settings.sequence_length
        self._block_rows = block_rows or max(1, BLOCK_TOKENS // self._length)
        self._eos = np.array([] if eos_id is None else [eos_id], np.int32)
        self._pad_id = pad_id
        self._started = False
        self._random = random.Random(settings.seed)  # drawn from in `reference` mode alone

    def rows(self, token_lists: Iterable[TokenList]) -> Iterator[Ids]:
        """Blocks of the rows that these documents complete."""
        if self.settings.pack:
            for pieces in self._batches(self._pieces(token_lists)):
                yield from self._packed_rows(pieces)
        else:
            whole = (np.concatenate([np.asarray(ids, np.int32), self._eos]) for ids in token_lists)
            for documents in self._batches(whole):
                yield from self._separate_rows(documents)

    def finish(self) -> Iterator[Ids]:
        """The packed remainder: a padded last row, or counted as dropped. Nothing when it holds no label."""
        tail, self.remainder = self.remainder, self.remainder[:0]
        self._started = False
        if tail.size < 2:
            return
        if not self.settings.keep_tail:
            self.statistics.drop("packed_tail", 1, tail.size - 1)
            return
        window = np.zeros((1, self._length + 1), np.int32)
        window[0, : tail.size] = tail
        yield self._block(window, np.array([tail.size]))

    def _pieces(self, token_lists: Iterable[TokenList]) -> Iterator[Ids]:
        """The packed stream: documents with their end-of-text id, the long ones in pieces of a block."""
        size = self._block_rows * self._length
        for ids in token_lists:
            document = np.asarray(ids, np.int32)
            yield from (document[first : first + size] for first in range(0, document.size, size))
            yield self._eos

    def _batches(self, parts: Iterable[Ids]) -> Iterator[list[Ids]]:
        """Grouped to about one block of ids."""
        batch: list[Ids] = []
        held = 0
        for part in parts:
            batch.append(part)
            held += part.size
            if held > self._block_rows * self._length:
                yield batch
                batch, held = [], 0
        if batch:
            yield batch

    def _packed_rows(self, pieces: list[Ids]) -> Iterator[Ids]:
        length = self._length
        stream = np.concatenate([self.remainder, *pieces])
        self.statistics.document_tokens += stream.size - self.remainder.size
        if stream.size and not self._started:
            self._started = True
            self.statistics.sequence_starts += 1
        full = max(0, stream.size - 1) // length
        self.remainder = stream[full * length :].copy()
        if full:
            windows = sliding_window_view(stream, length + 1)[::length]
            yield from self._blocks(windows, np.arange(full), np.full(full, length + 1))

    def _separate_rows(self, documents: list[Ids]) -> Iterator[Ids]:
        length = self._length
        sizes = np.array([document.size for document in documents])
        counts = np.maximum(0, (sizes + length - 2) // length)  # windows that hold a label
        owner = np.repeat(np.arange(sizes.size), counts)
        offsets = (np.arange(owner.size) - np.repeat(np.cumsum(counts) - counts, counts)) * length
        lengths = np.minimum(length + 1, sizes[owner] - offsets)
        kept = lengths >= self.settings.min_sequence_length
        self._count_separate(sizes, owner, lengths, kept)
        # One window of zeros at the end lets the last, short windows be cut at full width.
        flat = np.concatenate([*documents, np.zeros(length + 1, np.int32)])
        starts = (np.cumsum(sizes) - sizes)[owner] + offsets
        yield from self._blocks(sliding_window_view(flat, length + 1), starts[kept], lengths[kept])

    def _count_separate(
        self,
        sizes: NDArray[np.int64],
        owner: NDArray[np.int64],
        lengths: NDArray[np.int64],
        kept: NDArray[np.bool_],
    ) -> None:
        statistics = self.statistics
        statistics.document_tokens += int(sizes.sum())
        statistics.sequence_starts += int(np.count_nonzero(sizes))
        without_label = int(np.count_nonzero(sizes < 2))
        without_row = int(np.count_nonzero(np.bincount(owner[kept], minlength=sizes.size) == 0))
        statistics.discard_document("no_label", without_label)
        statistics.discard_document("below_min_sequence_length", without_row - without_label)
        short = lengths[~kept]
        statistics.drop("below_min_sequence_length", short.size, int((short - 1).sum()))

    def _blocks(self, windows: Ids, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Iterator[Ids]:
        for first in range(0, starts.size, self._block_rows):
            part = slice(first, first + self._block_rows)
            yield self._block(windows[starts[part]], lengths[part])

    def _block(self, windows: Ids, lengths: NDArray[np.int64]) -> Ids:
        """Rows of windows (rows, L + 1) of which the first `lengths` ids count."""
        lengths = self._shortened(windows, lengths)
        block = np.empty((len(windows), 3, self._length), np.int32)
        real, padding = (0, 1) if self.settings.inverted_mask else (1, 0)
        block[:, 0] = windows[:, :-1]
        block[:, 1] = real
        block[:, 2] = windows[:, 1:]
        short = np.flatnonzero(lengths <= self._length)
        if short.size:
            filler = np.array([self._pad_id, padding, self._pad_id], np.int32)[:, None]
            is_padding = np.arange(self._length) >= lengths[short, None, None] - 1
            block[short] = np.where(is_padding, filler, block[short])
        labels = int(lengths.sum()) - len(lengths)
        self.statistics.add_rows(len(block), block[:, 0].size, real=labels, loss=labels)
        return block

    def _shortened(self, windows: Ids, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Lengths after the short-sequence draws."""
        if not self.settings.short_sequence_probability:
            return lengths
        pairs = zip(windows, lengths.tolist(), strict=True)
        kept = np.array([self._short_length(window[:length], length) for window, length in pairs])
        self.statistics.drop("short_sequence", 0, int((lengths - kept).sum()))
        return kept

    def _short_length(self, window: Ids, length: int) -> int:
        settings = self.settings
        if settings.short_sequence_draws == "reference":
            if self._random.random() >= settings.short_sequence_probability:
                return length
            return min(length, self._random.randint(SHORTEST_CUT, self._length - 1))
        content = window.astype("<i4").tobytes()
        draw = keyed_hash("short-sequence", settings.seed, content) / 2**64
        if draw >= settings.short_sequence_probability:
            return length
        cut = keyed_hash("short-sequence-length", settings.seed, content) % (self._length - SHORTEST_CUT)
        return min(length, SHORTEST_CUT + cut)
