"""Language-modelling rows: documents to token windows, packed or one document at a time.

A window is a slice of at most L + 1 ids. Its row has all but the last id as inputs and all but the first as
labels, so labels are the inputs shifted by one, and neighbouring windows share one id (docs/formats/cerebras-rows.md
"LMData").
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.modes import LMDataset
from corpus_assets.config.datasets.options import Windows
from corpus_assets.tokenize.counts.by_source import Numbers, Runs
from corpus_assets.tokenize.counts.discarded import Decode, of_ids
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.encode.texts import encode_texts
from corpus_assets.tokenize.modes.mode import IdentifiedText, Mode, Tools, texts_of
from corpus_assets.tokenize.ragged import BLOCK_TOKENS, Ids, Ragged
from corpus_assets.tokenize.rows.layouts import TEXTS
from resources.hashing import keyed_hash

SHORTEST_CUT = 2
LM_REASONS = ("empty_text", "no_place_to_cut", "no_label", "below_minimum_length")


def lm_rows(
    batches: Iterable[Ragged],
    section: Windows,
    eos_id: int | None,
    pad_id: int,
    statistics: Statistics | None = None,
) -> Iterator[Ids]:
    """Yields the rows of a stream of documents, as int32 blocks (rows, 3, L): inputs, loss mask, labels.

    A batch holds the ids of one document per list; `eos_id`, if any, follows every one. Batches do not affect the rows.
    Memory is one block besides the batch. Ids in no row are counted in `statistics`.
    """
    builder = RowBuilder(section, eos_id, pad_id, statistics if statistics is not None else Statistics())
    yield from builder.rows(batches)
    yield from builder.finish()


def lm_rows_over_files(
    files: Iterable[Iterable[Ragged]],
    section: Windows,
    eos_id: int | None,
    pad_id: int,
    statistics: Statistics,
    *,
    decode: Decode | None = None,
) -> Iterator[Iterator[Ids]]:
    """Yields the blocks of rows that end in each file, to be used up one after another.

    The rows are those of `lm_rows` for all files as one stream. The padded tail belongs to the last file. decode: for
    examples of what is discarded.
    """
    builder = RowBuilder(section, eos_id, pad_id, statistics, decode=decode)
    file: Iterable[Ragged] | None = None
    for following in files:
        if file is not None:
            yield builder.rows(file)
        file = following
    if file is not None:
        yield chain(builder.rows(file), builder.finish())


class RowBuilder:
    """Builds rows from several streams in turn; packing carries the remainder from one to the next.

    `block_rows` bounds the rows of a block and has no influence on their content.
    """

    def __init__(
        self,
        section: Windows,
        eos_id: int | None,
        pad_id: int,
        statistics: Statistics,
        block_rows: int | None = None,
        *,
        decode: Decode | None = None,
    ) -> None:
        self.section = section
        self.statistics = statistics
        self._decode = decode
        self._length = section.sequence_length
        self._block_rows = block_rows or max(1, BLOCK_TOKENS // self._length)
        self._end = np.array([] if eos_id is None else [eos_id], np.int32)
        self._pad_id = pad_id
        self._real, self._padding = (0, 1) if section.inverted_mask else (1, 0)
        self._started = False
        self._sources = Runs()  # of the labels that are in no row yet
        self._random = random.Random(section.seed)  # of the draws by `reference` only
        # The packed stream is written straight into this block; its last row begins with the id that it shares.
        self._block = self._new_block()
        self._filled = 0

    @property
    def remainder(self) -> Ids:
        """Between streams: ids of the packed stream that fill no window yet, the first shared with the last row."""
        return self._block[0, 0, : self._filled].copy()

    def rows(self, batches: Iterable[Ragged]) -> Iterator[Ids]:
        """Yields the blocks of the rows that these documents complete."""
        make = self._packed_rows if self.section.pack else self._separate_rows
        for batch in batches:
            sizes = batch.lengths + self._end.size
            self.statistics.add_lengths(sizes)
            yield from make(batch, self.statistics.sources.ids(sizes))
            del batch  # A long document's ids are free before the next document is encoded.
        if self.section.pack:
            yield from self._complete_rows()

    def finish(self) -> Iterator[Ids]:
        """Yields the packed remainder: a padded last row, or counted as dropped. Nothing when it holds no label."""
        tail, self._filled, self._started = self.remainder, 0, False
        if tail.size < 2:
            return
        sources = self._sources.take(tail.size - 1)
        if not self.section.keep_tail:
            self.statistics.drop("packed_tail", 1, tail.size - 1)
            return
        block = np.empty((1, 3, self._length), np.int32)
        block[0, 0, : tail.size - 1], block[0, 2, : tail.size - 1] = tail[:-1], tail[1:]
        yield self._padded(block, np.array([tail.size]), sources)

    def _new_block(self) -> Ids:
        return np.empty((self._block_rows + 1, 3, self._length), np.int32)

    def _packed_rows(self, batch: Ragged, sources: Numbers) -> Iterator[Ids]:
        from corpus_assets.tokenize.kernels.rows import pack

        size = int(batch.offsets[-1] - batch.offsets[0]) + len(batch) * self._end.size
        self.statistics.document_tokens += size
        self._sources.add(sources, batch.lengths + self._end.size)
        if size and not self._started:
            self._started = True
            self.statistics.sequence_starts += 1
            self._sources.take(1)  # The first id of a stream is no label.
        place = np.array([0, batch.offsets[0], self._filled])
        while place[0] < len(batch):
            pack((batch.ids, batch.offsets), self._end, self._real, place, self._block)
            self._filled = int(place[2])
            if self._filled > self._block_rows * self._length:
                yield from self._complete_rows()
                place[2] = self._filled

    def _complete_rows(self) -> Iterator[Ids]:
        """Yields the block's complete rows; what follows them goes to the start of a new block."""
        full = max(0, self._filled - 1) // self._length
        if not full:
            return
        block, self._block = self._block, self._new_block()
        self._filled -= full * self._length
        self._block[0, 0, : self._filled] = block[full, 0, : self._filled]
        yield self._packed(block[:full])

    def _packed(self, block: Ids) -> Ids:
        """Returns the rows of full windows, after the short-sequence draws."""
        labels = len(block) * self._length
        sources = self._sources.take(labels)
        if self.section.short_sequence_probability:
            return self._padded(block, np.full(len(block), self._length + 1), sources)
        self.statistics.sources.loss(*sources)
        self.statistics.add_rows(len(block), labels, real=labels, loss=labels)
        return block

    def _separate_rows(self, batch: Ragged, sources: Numbers) -> Iterator[Ids]:
        from corpus_assets.tokenize.kernels.rows import cut

        self._add_separate(batch, sources)
        place = np.zeros(2, np.int64)
        while place[0] < len(batch):
            block = np.empty((self._block_rows, 3, self._length), np.int32)
            lengths = np.empty(self._block_rows, np.int64)
            minimum = self.section.minimum_length
            rows = cut((batch.ids, batch.offsets), self._end, minimum, place, (block, lengths))
            if rows:
                labels = int(lengths[:rows].sum()) - rows
                yield self._padded(block[:rows], lengths[:rows], self._sources.take(labels))

    def _add_separate(self, batch: Ragged, sources: Numbers) -> None:
        sizes = batch.lengths + self._end.size
        length, minimum, statistics = self._length, self.section.minimum_length, self.statistics
        statistics.document_tokens += int(sizes.sum())
        statistics.sequence_starts += int(np.count_nonzero(sizes))
        self._discard("no_label", batch, sizes < 2)
        last = (sizes[sizes > 1] - 2) % length + 2  # ids of the last window; only that one can be short
        short = last < minimum
        self._discard("below_minimum_length", batch, (sizes > 1) & (sizes <= length + 1) & (sizes < minimum))
        statistics.drop("below_minimum_length", int(short.sum()), int((last[short] - 1).sum()))
        labels = sizes[sizes > 1] - 1
        labels[short] -= last[short] - 1
        self._sources.add(sources[sizes > 1], labels)

    def _discard(self, reason: str, batch: Ragged, chosen: NDArray[np.bool_]) -> None:
        shown = of_ids(self._decode, batch, chosen)
        self.statistics.discard_document(reason, int(np.count_nonzero(chosen)), shown)

    def _padded(self, block: Ids, lengths: Numbers, sources: tuple[Numbers, Numbers]) -> Ids:
        """Returns the rows whose inputs and labels are those of windows of `lengths` ids: draws, mask and padding.

        sources: of the labels, as runs.
        """
        from corpus_assets.tokenize.kernels.rows import pad

        whole, lengths = lengths, self._shortened(block, lengths)
        self._count_loss(sources, whole - 1, lengths - 1)
        pad(block, lengths, self._pad_id, self._real, self._padding)
        labels = int(lengths.sum()) - len(lengths)
        self.statistics.add_rows(len(block), len(block) * self._length, real=labels, loss=labels)
        return block

    def _count_loss(self, sources: tuple[Numbers, Numbers], before: Numbers, after: Numbers) -> None:
        """Counts the labels in the loss by source. before, after: labels of each row before and after the draws."""
        if np.array_equal(before, after):
            self.statistics.sources.loss(*sources)
            return
        places = np.arange(before.sum()) - np.repeat(np.cumsum(before) - before, before)
        self.statistics.sources.loss(np.repeat(*sources)[places < np.repeat(after, before)])

    def _shortened(self, block: Ids, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the lengths after the short-sequence draws."""
        if not self.section.short_sequence_probability:
            return lengths
        windows = (np.append(row[0, :1], row[2, : n - 1]) for row, n in zip(block, lengths, strict=True))
        kept = np.array([self._short_length(window) for window in windows])
        self.statistics.drop("short_sequence", 0, int((lengths - kept).sum()))
        return kept

    def _short_length(self, window: Ids) -> int:
        section = self.section
        if section.short_sequence_draws == "reference":
            if self._random.random() >= section.short_sequence_probability:
                return window.size
            return min(window.size, self._random.randint(SHORTEST_CUT, self._length - 1))
        content = window.astype("<i4").tobytes()
        draw = keyed_hash("short-sequence", section.seed, content) / 2**64
        if draw >= section.short_sequence_probability:
            return window.size
        cut = keyed_hash("short-sequence-length", section.seed, content) % (self._length - SHORTEST_CUT)
        return min(window.size, SHORTEST_CUT + cut)


def _rows(section: LMDataset, documents: Iterable[IdentifiedText], tools: Tools) -> Iterator[Ids]:
    return next(_rows_over_files(section, [documents], tools))


def _rows_over_files(
    section: LMDataset, files: Sequence[Iterable[IdentifiedText]], tools: Tools
) -> Iterator[Iterator[Ids]]:
    tokenizer, statistics = tools.tokenizer, tools.statistics
    batches = (encode_texts(texts_of(file, statistics), tokenizer, section, statistics) for file in files)
    return _rows_of_ids(section, batches, tools)


def _rows_of_ids(section: LMDataset, files: Iterable[Iterable[Ragged]], tools: Tools) -> Iterator[Iterator[Ids]]:
    tokenizer = tools.tokenizer
    eos_id, pad_id = tokenizer.eos_id, tokenizer.pad_id
    return lm_rows_over_files(files, section, eos_id, pad_id, tools.statistics, decode=tokenizer.decode)


LM = Mode(
    section=LMDataset,
    words="Language-modelling rows",
    layout=TEXTS,
    rows=_rows,
    rows_over_files=_rows_over_files,
    rows_of_ids=_rows_of_ids,
    reasons=LM_REASONS,
)
