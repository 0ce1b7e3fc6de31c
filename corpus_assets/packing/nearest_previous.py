"""Nearest previous fit of the sequences of a histogram (Cerebras' rule; docs/formats/packing.md)."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from corpus_assets.packing.bins import pack
from corpus_assets.packing.histogram import checked
from corpus_assets.packing.order import keyed_order
from corpus_assets.packing.packs import Packs

WINDOW = 1 << 24
"""Ids of a window: the default of `packing_window`."""

Lengths = NDArray[np.int64]


def nearest_previous(histogram: NDArray[np.integer], depth: int | None = None, *, window: int = WINDOW) -> Packs:
    """Returns the packs of the sequences of a histogram in keyed order. Depth has no meaning here.

    The rule works on single sequences and needs all of them in memory. So they are packed in windows, each of which
    ends with the sequence that fills `window` ids, as in the stages.
    """
    counts = checked(histogram, depth)
    packs = sequences = tokens = 0
    for lengths in windows(keyed_order(counts), window):
        packs += len(pack(lengths, counts.size, "nearest_previous"))
        sequences += lengths.size
        tokens += int(lengths.sum())
    return Packs(capacity=counts.size, count=packs, sequences=sequences, tokens=tokens)


def windows(blocks: Iterable[Lengths], window: int) -> Iterator[Lengths]:
    """Yields lengths in windows; each ends with the sequence that fills `window` ids, the last where all end."""
    held, ids = list[Lengths](), 0
    for block in blocks:
        rest = block
        while rest.size:
            ends = np.cumsum(rest)
            last = int(np.searchsorted(ends, window - ids)) + 1
            held.append(rest[:last])
            ids += int(held[-1].sum())
            rest = rest[last:]
            if ids >= window:
                yield np.concatenate(held)
                held, ids = [], 0
    if held:
        yield np.concatenate(held)
