"""Rows of variable-length sequences: several share a row, and each attends to itself alone.

A sequence of m + 1 ids takes m positions: all but its last id are inputs, all but its first are labels. Beside them
stand the loss mask, the attention span (how many later positions of the sequence may attend to this one: m - 1 to 0)
and the position ids (0 to m - 1); padding has 0 in these three (docs/formats/cerebras-hdf5.md "Channels").
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.options import Packed
from corpus_assets.packing.bins import Packing, pack
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.ragged import BLOCK_TOKENS, Ids, Ragged

CHANNELS = 5
LARGEST_CARRY = 8  # at most this part (1 / 8) of a window goes on to the next
FULL = 256  # a bin with less room than this part (1 / 256) of a row is full enough

Lengths = NDArray[np.int64]


class VSLPacker:
    """Packs sequences into rows, window by window; `finish` ends a window early and begins the next.

    Blocks are int32 (rows, 5, L): inputs, loss mask, labels, attention span, position ids. Rows of a window are in the
    order of their first sequence. Bins that a window leaves with room go on to the next, the emptiest first, except
    with nearest_previous. The division of sequences into calls of `add` does not affect the rows. The size of a window
    does, so it is an option and independent of the available memory. `statistics` gets the rows, the sequences before
    packing and, in `kinds`, how many sequences rows hold; the modes count their own documents.
    """

    def __init__(self, section: Packed, pad_id: int, statistics: Statistics) -> None:
        self.section = section
        self.statistics = statistics
        self._pad_id = pad_id
        self._parts: list[tuple[Ids, NDArray[np.uint8], Lengths]] = []
        self._held = 0

    def add(self, tokens: Ragged, masks: Ragged | None = None) -> Iterator[Ids]:
        """Yields the blocks of the windows that these sequences complete.

        `tokens`: 2 to L + 1 ids per sequence; one with a single id or none has no label and is counted as dropped.
        `masks`, of the same lengths: 1 at i where the label of id i, which is id i + 1, is in the loss, else 0; the
        last one of a sequence is ignored. None: all are. ValueError for a sequence that is too long, for other
        lengths and for another value.
        """
        loss = self._checked_masks(tokens, masks)
        sizes = tokens.lengths
        if sizes.size and sizes.max() > self.section.sequence_length + 1:
            raise ValueError(f"a sequence of {sizes.max()} ids; valid: 2 to {self.section.sequence_length + 1}")
        labelled = sizes > 1
        self.statistics.drop("no_label", int(np.count_nonzero(~labelled)), 0)
        ids, loss, sizes = _selected(tokens.ids, loss, sizes, labelled)
        yield from self._windows(ids, loss, sizes)

    def finish(self) -> Iterator[Ids]:
        """Yields the blocks of all that is left."""
        yield from self._close(final=True)

    @staticmethod
    def _checked_masks(tokens: Ragged, masks: Ragged | None) -> NDArray[np.uint8]:
        if masks is None:
            return np.ones(tokens.ids.size, np.uint8)
        if not np.array_equal(tokens.offsets, masks.offsets):
            raise ValueError("loss masks differ from the sequences in their lengths")
        if masks.ids.size and (masks.ids.min() < 0 or masks.ids.max() > 1):
            raise ValueError(f"loss mask holds {masks.ids.min()}..{masks.ids.max()}; valid: 0 and 1")
        return masks.ids.astype(np.uint8)

    def _windows(self, ids: Ids, loss: NDArray[np.uint8], sizes: Lengths) -> Iterator[Ids]:
        """Cut where the sequence ends that fills a window."""
        ends = np.cumsum(sizes)
        window = self.section.window_tokens
        first = taken = 0
        while first < sizes.size:
            last = sizes.size
            if window is not None:
                last = min(last, int(np.searchsorted(ends, taken + window - self._held)) + 1)
            end = int(ends[last - 1])
            # Copies: a part of a batch must not keep all of it.
            self._parts.append((ids[taken:end].copy(), loss[taken:end].copy(), sizes[first:last]))
            self._held += end - taken
            first, taken = last, end
            if window is not None and self._held >= window:
                yield from self._close(final=False)

    def _close(self, final: bool) -> Iterator[Ids]:
        if not self._parts:
            return
        columns = tuple(zip(*self._parts, strict=True))
        self._parts, self._held = [], 0
        ids, loss, sizes = np.concatenate(columns[0]), np.concatenate(columns[1]), np.concatenate(columns[2])
        del columns
        packing = pack(sizes - 1, self.section.sequence_length, self.section.packing, depth=self.section.packing_depth)
        carried = np.empty(0, np.int64) if final else self._carried(packing)
        if carried.size:
            chosen = np.zeros(sizes.size, np.bool_)
            chosen[np.concatenate([packing[bin_] for bin_ in carried])] = True
            self._parts = [_selected(ids, loss, sizes, chosen)]
            self._held = self._parts[0][0].size
        bins = np.delete(np.arange(len(packing)), carried)
        yield from self._blocks(ids, loss, sizes, packing, bins)

    def _carried(self, packing: Packing) -> NDArray[np.int64]:
        """Returns the bins that wait for the next window: those with room, emptiest first, up to a limit."""
        if self.section.packing == "nearest_previous" or self.section.window_tokens is None:
            return np.empty(0, np.int64)
        limit = packing.capacity - packing.capacity // FULL
        order = np.argsort(packing.loads, kind="stable")
        order = order[packing.loads[order] < limit]
        ids = np.cumsum(packing.loads[order] + packing.sizes[order])
        return order[: np.searchsorted(ids, self.section.window_tokens // LARGEST_CARRY, side="right")]

    def _blocks(
        self, ids: Ids, loss: NDArray[np.uint8], sizes: Lengths, packing: Packing, bins: NDArray[np.int64]
    ) -> Iterator[Ids]:
        length = self.section.sequence_length
        sequences = (ids, loss, offsets_of(sizes))
        for first in range(0, bins.size, rows := max(1, BLOCK_TOKENS // length)):
            part = bins[first : first + rows]
            block = np.empty((part.size, CHANNELS, length), np.int32)
            self._fill(block, sequences, part, packing)
            yield block

    def _fill(
        self,
        block: Ids,
        sequences: tuple[Ids, NDArray[np.uint8], Lengths],
        bins: NDArray[np.int64],
        packing: Packing,
    ) -> None:
        from corpus_assets.tokenize.kernels import vsl

        inverted = int(self.section.inverted_mask)
        in_loss = vsl.fill(block, sequences, (bins, packing.members, packing.bounds), self._pad_id, inverted)
        sizes = packing.sizes[bins]
        self.statistics.add_rows(len(block), block[:, 0].size, real=int(packing.loads[bins].sum()), loss=in_loss)
        self.statistics.sequences_before_packing += int(sizes.sum())
        self.statistics.kinds += _by_power(sizes)


def offsets_of(sizes: Lengths) -> Lengths:
    """Returns where lists of these sizes, one after another, start and the last ends: int64 (n + 1,)."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _selected(
    ids: Ids, loss: NDArray[np.uint8], sizes: Lengths, chosen: NDArray[np.bool_]
) -> tuple[Ids, NDArray[np.uint8], Lengths]:
    """Returns the chosen sequences alone."""
    if chosen.all():
        return ids, loss, sizes
    kept = np.repeat(chosen, sizes)
    return ids[kept], loss[kept], sizes[chosen]


def _by_power(sizes: Lengths) -> Counter[str]:
    """Returns the number of rows by how many sequences they hold: `rows_of_1`, `rows_of_2_to_3`, ..."""
    powers = np.bincount(np.frexp(sizes)[1] - 1)
    names = ("rows_of_1" if power == 0 else f"rows_of_{2**power}_to_{2 ** (power + 1) - 1}" for power in range(32))
    return Counter({name: count for name, count in zip(names, powers.tolist(), strict=False) if count})
