"""The three indices of a GPTDataset: documents in order, where samples begin, and samples in order.

The same arrays as `_build_document_sample_shuffle_indices` of megatron-core makes, without its temporaries: orders are
shuffled in the files, and where samples begin is found block by block.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from corpus_assets.megatron_cache.sequences import Sequences
from resources.errors import ConfigError

SEPARATE_BELOW = 0.80
"""The last epoch is shuffled by itself if it gives a smaller share of an epoch's samples."""
_BLOCK = 1 << 20
_INT32, _UINT32 = np.iinfo(np.int32).max, np.iinfo(np.uint32).max
Create = Callable[[str, tuple[int, ...], DTypeLike], NDArray[Any]]


@dataclass(frozen=True)
class Order:
    """What a dataset of some documents of a prefix holds.

    first, last: the range of documents. length: ids of a sample, less the one that only labels have. epochs: how often
    every document occurs. alone: samples before the last epoch, if that is shuffled by itself, else None.
    """

    sequences: Sequences
    first: int
    last: int
    length: int
    epochs: int
    ids: int
    alone: int | None

    @property
    def documents(self) -> int:
        """Entries of the document index."""
        return self.epochs * (self.last - self.first)

    @property
    def samples(self) -> int:
        """Entries of the shuffle index."""
        return (self.epochs * self.ids - 1) // self.length


def order_of(sequences: Sequences, documents: tuple[int, int], length: int, samples: int | None) -> Order:
    """Returns the order for at least so many samples, or for one epoch; `ConfigError` if there is nothing to draw."""
    first, last = documents
    ids = sequences.ids(first, last)
    if not ids:
        raise ConfigError(
            f"{sequences.prefix}: documents {first:,} to {last:,} of {len(sequences.lengths):,} have no ids, and "
            "Megatron would look for a sample for ever; valid: a share of --split that holds documents, or 0"
        )
    epochs = 1 if samples is None else max(1, -(-(samples * length + 1) // ids))
    alone = None
    if samples is not None and epochs > 1:
        before = ((epochs - 1) * ids - 1) // length
        if samples - before < int(SEPARATE_BELOW * ((ids - 1) // length)):
            alone = before
    return Order(sequences, first, last, length, epochs, ids, alone)


def write(order: Order, seed: int, create: Create) -> None:
    """Writes the three indices. create: makes an array in a file, by name, shape and type."""
    random = np.random.RandomState(seed)
    documents = create("document_index", (order.documents,), np.int32)
    if order.documents:
        documents.reshape(order.epochs, -1)[:] = np.arange(order.first, order.last, dtype=np.int32)
    head = order.documents - (order.last - order.first if order.alone is not None else 0)
    for part in (documents[:head], documents[head:]):
        random.shuffle(part)
    small = max(order.documents, order.sequences.longest) <= _INT32
    starts = create("sample_index", (order.samples + 1, 2), np.int32 if small else np.int64)
    for at, block in _starts(order, documents):
        starts[at : at + len(block)] = block
    samples = create("shuffle_index", (order.samples,), np.uint32 if order.samples < _UINT32 - 1 else np.int64)
    for at in range(0, order.samples, _BLOCK):
        samples[at : at + _BLOCK] = np.arange(at, min(at + _BLOCK, order.samples), dtype=samples.dtype)
    head = order.samples if order.alone is None else order.alone
    for part in (samples[:head], samples[head:]):
        random.shuffle(part)


def _starts(order: Order, documents: NDArray[np.int32]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yields where samples begin, (samples, 2): place in the document index, and ids before it in that document.

    Sample n begins with id n * length of all documents one after another. The first one begins with the first document,
    the others with one that has ids.
    """
    yield 0, np.zeros((1, 2), np.int64)
    before, found = 0, 1
    for at in range(0, len(documents), _BLOCK):
        lengths = order.sequences.lengths[documents[at : at + _BLOCK]].astype(np.int64)
        ends = before + np.cumsum(lengths)
        before = int(ends[-1])
        stop = min(order.samples + 1, -(-before // order.length))
        places = np.arange(found, max(stop, found), dtype=np.int64) * order.length
        holding = np.searchsorted(ends, places, side="right")
        yield found, np.stack([at + holding, places - (ends - lengths)[holding]], axis=1)
        found += len(places)
