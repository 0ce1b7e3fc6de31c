"""Language modelling with whole documents in rows: documents to variable-length sequences.

A long document is folded into sequences that share one id with their neighbour, so that no label is lost; positions
restart in each. Nothing is carried from one document to another (docs/formats/cerebras-rows.md "LMData_VSL").
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.rows.vsl import Lengths, PackingSettings, VSLPacker, offsets_of
from corpus_assets.tokenize.statistics import Statistics
from resources.errors import ConfigError
from resources.hashing import keyed_hash

SHORTEST_CUT = 2


@dataclass(frozen=True)
class VSLSettings:
    """How documents become sequences, and these rows; names after docs/formats/cerebras-hdf5.md "Parameter names".

    packing: how sequences share rows, and L.
    minimum_length: documents with fewer ids, the end-of-text id included, are discarded.
    long_documents: what becomes of more than L + 1 ids. `fold`: several sequences that share one id each with the one
    before; `cut`: the first L + 1 ids; `drop`: nothing.
    short_sequence_probability: share of documents that keep only their first 2 to L ids; the rest is lost.
    seed, short_sequence_draws: `keyed` draws from a hash of (seed, ids of the document); `reference` replays one
    generator over all documents of the run, as the original does.
    """

    packing: PackingSettings
    minimum_length: int = 6
    long_documents: Literal["fold", "cut", "drop"] = "fold"
    short_sequence_probability: float = 0.0
    seed: int = 0
    short_sequence_draws: Literal["keyed", "reference"] = "keyed"

    def __post_init__(self) -> None:
        length = self.packing.sequence_length
        if not 0 <= self.short_sequence_probability <= 1:
            raise ConfigError(f"short_sequence_probability is {self.short_sequence_probability}; valid: 0 to 1")
        if self.short_sequence_probability and length < SHORTEST_CUT:
            raise ConfigError(f"sequence_length is {length}; valid with short sequences: {SHORTEST_CUT} or more")
        if self.minimum_length > length + 1:
            raise ConfigError(f"minimum_length is {self.minimum_length}; valid: at most {length + 1}")
        if self.long_documents not in ("fold", "cut", "drop"):
            raise ConfigError(f"long_documents is {self.long_documents!r}; valid: fold, cut, drop")


def lmdata_vsl_rows(
    batches: Iterable[Ragged],
    settings: VSLSettings,
    eos_id: int | None,
    pad_id: int,
    statistics: Statistics | None = None,
) -> Iterator[Ids]:
    """Rows of a stream of documents, as int32 blocks (rows, 5, L); see `VSLPacker`.

    A batch holds the ids of one document per list; `eos_id`, if any, follows every one, always as a label. What is in
    no row is counted in `statistics`.
    """
    builder = VSLBuilder(settings, eos_id, pad_id, statistics if statistics is not None else Statistics())
    yield from builder.rows(batches)
    yield from builder.finish()


class VSLBuilder:
    """Builds rows from several streams in turn; `finish` after each keeps their documents in rows of their own."""

    def __init__(self, settings: VSLSettings, eos_id: int | None, pad_id: int, statistics: Statistics) -> None:
        self.settings = settings
        self.statistics = statistics
        self._length = settings.packing.sequence_length
        self._eos_id = eos_id
        self._packer = VSLPacker(settings.packing, pad_id, statistics)
        self._random = random.Random(settings.seed)  # drawn from in `reference` mode alone

    def rows(self, batches: Iterable[Ragged]) -> Iterator[Ids]:
        """Blocks of the windows that these documents complete."""
        for batch in batches:
            yield from self._packer.add(self._sequences(self._ended(batch)))

    def finish(self) -> Iterator[Ids]:
        """Blocks of all that is left."""
        return self._packer.finish()

    def _ended(self, batch: Ragged) -> Ragged:
        """The documents, each with its end-of-text id."""
        if self._eos_id is None:
            return batch
        ids = np.insert(batch.ids, batch.offsets[1:], self._eos_id).astype(np.int32, copy=False)
        return Ragged(ids, batch.offsets + np.arange(len(batch.offsets)))

    def _sequences(self, documents: Ragged) -> Ragged:
        """What of the documents goes into rows, cut into sequences of at most L + 1 ids."""
        sizes = documents.lengths
        self.statistics.document_tokens += int(sizes.sum())
        self.statistics.sequence_starts += int(np.count_nonzero(sizes))
        kept = self._kept(documents, sizes)
        ids = documents.ids
        if not np.array_equal(kept, sizes):
            ids = ids[np.arange(ids.size) < np.repeat(documents.offsets[:-1] + kept, sizes)]
        return _folded(ids, kept, self._length)

    def _kept(self, documents: Ragged, sizes: Lengths) -> Lengths:
        """How many of its first ids a document keeps; what it loses is counted."""
        settings, statistics = self.settings, self.statistics
        unlabelled, short = sizes < 2, sizes < settings.minimum_length
        statistics.discard_document("no_label", int(np.count_nonzero(unlabelled)))
        self._discard("below_minimum_length", sizes[short & ~unlabelled])
        kept = np.where(short | unlabelled, 0, sizes)
        if settings.short_sequence_probability:
            for index in np.flatnonzero(~short).tolist():
                kept[index] = min(kept[index], self._short_length(documents[index]))
            lost = np.where(kept > 0, sizes - kept, 0)
            statistics.drop("short_sequence", 0, int(lost.sum()))
            statistics.truncated_documents += Counter(short_sequence=int(np.count_nonzero(lost)))
        long = kept > self._length + 1
        if settings.long_documents == "drop":
            self._discard("long_document", sizes[long])
            kept[long] = 0
        elif settings.long_documents == "cut":
            statistics.drop("long_document", 0, int((kept[long] - self._length - 1).sum()))
            statistics.truncated_documents += Counter(long_document=int(np.count_nonzero(long)))
            kept[long] = self._length + 1
        return kept

    def _discard(self, reason: str, sizes: Lengths) -> None:
        self.statistics.discard_document(reason, sizes.size)
        self.statistics.drop(reason, sizes.size, int((sizes - 1).sum()))

    def _short_length(self, document: Ids) -> int:
        settings, length = self.settings, self._length
        if settings.short_sequence_draws == "reference":
            if self._random.random() >= settings.short_sequence_probability:
                return document.size
            return self._random.randint(SHORTEST_CUT, length)
        content = document.astype("<i4").tobytes()
        if keyed_hash("short-sequence", settings.seed, content) / 2**64 >= settings.short_sequence_probability:
            return document.size
        drawn = keyed_hash("short-sequence-length", settings.seed, content)
        return SHORTEST_CUT + drawn % (length - SHORTEST_CUT + 1)


def _folded(ids: Ids, sizes: Lengths, length: int) -> Ragged:
    """Documents of `sizes` ids as sequences of at most `length` + 1; neighbours share an id, and none has one alone."""
    counts = np.where(sizes > 0, np.maximum(1, (sizes + length - 2) // length), 0)
    numbers = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = np.repeat(np.cumsum(sizes) - sizes, counts) + numbers * length
    shared = starts[numbers > 0]
    pieces = np.minimum(length + 1, np.repeat(sizes, counts) - numbers * length)
    return Ragged(np.insert(ids, shared, ids[shared]) if shared.size else ids, offsets_of(pieces))
