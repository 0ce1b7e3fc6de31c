"""Language modelling with whole documents in rows: documents to variable-length sequences.

A long document is folded into sequences that share one id with their neighbour, so that no label is lost; positions
restart in each. Nothing is carried from one document to another (docs/formats/cerebras-rows.md "LMData_VSL").
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.modes import VSLDataset
from corpus_assets.tokenize.counts.discarded import Decode, of_ids
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.encode.texts import encode_texts, utf8_length
from corpus_assets.tokenize.modes.chunks import chunked
from corpus_assets.tokenize.modes.lm import LM_REASONS
from corpus_assets.tokenize.modes.mode import IdentifiedText, Mode, Tools, texts_of
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.rows.layouts import PACKED_TEXTS
from corpus_assets.tokenize.rows.vsl import Lengths, VSLPacker, offsets_of
from resources.hashing import keyed_hash

SHORTEST_CUT = 2


def lm_vsl_rows(
    batches: Iterable[Ragged],
    section: VSLDataset,
    eos_id: int | None,
    pad_id: int,
    statistics: Statistics | None = None,
) -> Iterator[Ids]:
    """Yields the rows of a stream of documents, as int32 blocks (rows, 5, L); see `VSLPacker`.

    A batch holds the ids of one document per list; `eos_id`, if any, follows every one, always as a label. What is in
    no row is counted in `statistics`.
    """
    builder = VSLBuilder(section, eos_id, pad_id, statistics if statistics is not None else Statistics())
    yield from builder.rows(batches)
    yield from builder.finish()


class VSLBuilder:
    """Builds rows from several streams in turn; `finish` after each keeps their documents in rows of their own."""

    def __init__(
        self,
        section: VSLDataset,
        eos_id: int | None,
        pad_id: int,
        statistics: Statistics,
        *,
        decode: Decode | None = None,
    ) -> None:
        self.section = section
        self.statistics = statistics
        self._decode = decode
        self._length = section.sequence_length
        self._eos_id = eos_id
        self._packer = VSLPacker(section, pad_id, statistics)
        self._random = random.Random(section.seed)  # of the draws by `reference` only

    def rows(self, batches: Iterable[Ragged]) -> Iterator[Ids]:
        """Yields the blocks of the windows that these documents complete."""
        for batch in batches:
            yield from self._packer.add(self._sequences(self._ended(batch)))

    def finish(self) -> Iterator[Ids]:
        """Yields the blocks of all that is left."""
        return self._packer.finish()

    def _ended(self, batch: Ragged) -> Ragged:
        """Returns the documents, each with its end-of-text id."""
        if self._eos_id is None:
            return batch
        ids = np.insert(batch.ids, batch.offsets[1:], self._eos_id).astype(np.int32, copy=False)
        return Ragged(ids, batch.offsets + np.arange(len(batch.offsets)))

    def _sequences(self, documents: Ragged) -> Ragged:
        """Returns what is kept of the documents, cut into sequences of at most L + 1 ids."""
        sizes = documents.lengths
        self.statistics.add_lengths(sizes)
        self.statistics.document_tokens += int(sizes.sum())
        self.statistics.sequence_starts += int(np.count_nonzero(sizes))
        sources = self.statistics.sources.ids(sizes)
        kept = self._kept(documents, sizes)
        self.statistics.sources.loss(sources, np.maximum(kept - 1, 0))
        ids = documents.ids
        if not np.array_equal(kept, sizes):
            ids = ids[np.arange(ids.size) < np.repeat(documents.offsets[:-1] + kept, sizes)]
        return _folded(ids, kept, self._length)

    def _kept(self, documents: Ragged, sizes: Lengths) -> Lengths:
        """Returns how many of its first ids each document keeps; what it loses is counted."""
        section, statistics = self.section, self.statistics
        unlabelled, short = sizes < 2, sizes < section.minimum_length
        statistics.discard_document(
            "no_label", int(np.count_nonzero(unlabelled)), of_ids(self._decode, documents, unlabelled)
        )
        self._discard("below_minimum_length", documents, short & ~unlabelled)
        kept = np.where(short | unlabelled, 0, sizes)
        if section.short_sequence_probability:
            for index in np.flatnonzero(~short).tolist():
                kept[index] = min(kept[index], self._short_length(documents[index]))
            lost = np.where(kept > 0, sizes - kept, 0)
            statistics.drop("short_sequence", 0, int(lost.sum()))
            statistics.truncated_documents += Counter(short_sequence=int(np.count_nonzero(lost)))
        long = kept > self._length + 1
        if section.long_documents == "drop":
            self._discard("long_document", documents, long)
            kept[long] = 0
        elif section.long_documents == "cut":
            statistics.drop("long_document", 0, int((kept[long] - self._length - 1).sum()))
            statistics.truncated_documents += Counter(long_document=int(np.count_nonzero(long)))
            kept[long] = self._length + 1
        return kept

    def _discard(self, reason: str, documents: Ragged, chosen: NDArray[np.bool_]) -> None:
        sizes = documents.lengths[chosen]
        self.statistics.discard_document(reason, sizes.size, of_ids(self._decode, documents, chosen))
        self.statistics.drop(reason, sizes.size, int((sizes - 1).sum()))

    def _short_length(self, document: Ids) -> int:
        section, length = self.section, self._length
        if section.short_sequence_draws == "reference":
            if self._random.random() >= section.short_sequence_probability:
                return document.size
            return self._random.randint(SHORTEST_CUT, length)
        content = document.astype("<i4").tobytes()
        if keyed_hash("short-sequence", section.seed, content) / 2**64 >= section.short_sequence_probability:
            return document.size
        drawn = keyed_hash("short-sequence-length", section.seed, content)
        return SHORTEST_CUT + drawn % (length - SHORTEST_CUT + 1)


def _folded(ids: Ids, sizes: Lengths, length: int) -> Ragged:
    """Returns documents of `sizes` ids as sequences of 2 to `length` + 1 ids; neighbours share one."""
    counts = np.where(sizes > 0, np.maximum(1, (sizes + length - 2) // length), 0)
    numbers = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = np.repeat(np.cumsum(sizes) - sizes, counts) + numbers * length
    shared = starts[numbers > 0]
    pieces = np.minimum(length + 1, np.repeat(sizes, counts) - numbers * length)
    return Ragged(np.insert(ids, shared, ids[shared]) if shared.size else ids, offsets_of(pieces))


def _rows(section: VSLDataset, documents: Iterable[IdentifiedText], tools: Tools) -> Iterator[Ids]:
    return next(_rows_over_files(section, [documents], tools))


def _rows_over_files(
    section: VSLDataset, files: Sequence[Iterable[IdentifiedText]], tools: Tools
) -> Iterator[Iterator[Ids]]:
    """Yields the rows of each file: nothing but the generator of short sequences goes on from one to the next."""
    tokenizer, statistics, builder = tools.tokenizer, tools.statistics, _builder(section, tools)

    def rows(documents: Iterable[IdentifiedText]) -> Iterator[Ids]:
        for chunk in chunked(documents, lambda document: utf8_length(document.text), section.packing_text):
            yield from builder.rows(encode_texts(texts_of(chunk, statistics), tokenizer, section, statistics))
            yield from builder.finish()

    return map(rows, files)


def _rows_of_ids(section: VSLDataset, files: Iterable[Iterable[Ragged]], tools: Tools) -> Iterator[Iterator[Ids]]:
    builder = _builder(section, tools)
    return (chain(builder.rows(file), builder.finish()) for file in files)


def _builder(section: VSLDataset, tools: Tools) -> VSLBuilder:
    tokenizer = tools.tokenizer
    return VSLBuilder(section, tokenizer.eos_id, tokenizer.pad_id, tools.statistics, decode=tokenizer.decode)


LM_VSL = Mode(
    section=VSLDataset,
    words="Packed documents",
    layout=PACKED_TEXTS,
    rows=_rows,
    rows_over_files=_rows_over_files,
    rows_of_ids=_rows_of_ids,
    reasons=(*LM_REASONS, "long_document"),
)
