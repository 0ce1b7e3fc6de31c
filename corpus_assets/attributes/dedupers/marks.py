"""The asset `<name>_attributes` of a deduper: the repeated parts of each document, as an attribute."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.dedupers.earlier import seen_in
from corpus_assets.attributes.dedupers.hashes import is_marked
from corpus_assets.attributes.dedupers.subjects import PARTS
from corpus_assets.attributes.tagging import DIGITS
from corpus_assets.config.selection.dedupers import Deduper
from resources.formats.attributes import Span
from resources.formats.row_tables import identifiers
from resources.stage.partition import Partition
from resources.stage.task import Task

_BLOCK = 1 << 16


class _Document(msgspec.Struct):
    """The identity of a document."""

    id: str
    source: str


class _Scored(NamedTuple):
    """Some parts of a shard (n,): the stored parts, which are marked, and their scores."""

    parts: NDArray[np.void]
    marked: NDArray[np.bool_]
    scores: NDArray[np.float64] | NDArray[np.int64]


def marks(task: Task, rule: Deduper) -> None:
    """Marks parts that occurred earlier in the corpus: a row for each document, with the spans of its repeated parts.

    Documents that the entry does not use have empty rows.
    """
    documents, hashes = task.input("normalized_documents"), task.input(f"{rule.name}_hashes")
    texts, own = documents.array(".texts.npy"), is_marked(task.shard, rule)
    bits = _seen_bits(task.input(f"{rule.name}_seen"), hashes)

    def scored() -> Iterator[_Scored]:
        return _scored(hashes, bits, rule) if own else iter(())

    compared, repeated, spans = _covered(scored(), len(texts))
    flagged = (compared > 0) & (repeated >= rule.flag_share * compared)
    listed = _listed(rule, compared > 0, texts["bytes"] > 0) & own
    found = _Spans(scored())
    ids = identifiers(texts["id_end"], documents.array(".ids.npy"))
    key, source = rule.key, task.shard.source
    with task.attributes(rule.name) as out:
        for row, (identifier, flag, always) in enumerate(zip(ids, flagged.tolist(), listed.tolist(), strict=True)):
            marked = found.of(row)
            out.add(_Document(identifier, source), {key: marked} if marked or always else {}, flagged=flag)
    task.count(rows_in=out.rows, rows_out=out.rows, spans=spans, flagged=int(flagged.sum()))


def _covered(blocks: Iterator[_Scored], documents: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Returns how many code points of each document were compared, and how many are repeated, and the spans of all.

    An empty part counts as one code point.
    """
    compared, repeated, spans = np.zeros(documents, dtype=np.int64), np.zeros(documents, dtype=np.int64), 0
    for parts, marked, scores in blocks:
        sizes = np.maximum(parts["end"].astype(np.int64) - parts["start"], 1)
        np.add.at(compared, parts["row"], sizes)
        # With threshold 0 a score of 0 is listed too, and means that nothing is repeated.
        above = marked & (scores > 0)
        np.add.at(repeated, parts["row"][above], sizes[above])
        spans += int(marked.sum())
    return compared, repeated, spans


def _listed(rule: Deduper, compared: NDArray[np.bool_], full: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Returns which rows have an empty list: none, or those of Dolma 1.2.1.

    compared: which documents have compared parts. full: which texts are not empty.
    """
    if rule.compat is None:
        return np.zeros_like(full)
    return full if rule.by in PARTS else ~compared


def _seen_bits(whole: Partition, hashes: Partition) -> NDArray[np.uint8]:
    """Returns a bit for each hash of a shard, in the order of its parts: whether it occurred earlier in the corpus."""
    from corpus_assets.attributes.dedupers.kernels.seen import set_bits

    bits = np.array(hashes.array(".again.npy"))
    seen = seen_in(whole, hashes)
    for start in range(0, len(seen), _BLOCK):
        places = hashes.array(".places.npy")[start : start + _BLOCK]
        set_bits(bits, places[seen[start : start + _BLOCK]].astype(np.int64))
    return bits


def _scored(hashes: Partition, bits: NDArray[np.uint8], rule: Deduper) -> Iterator[_Scored]:
    """Yields all parts of a shard in blocks, in their order."""
    from corpus_assets.attributes.dedupers.kernels.seen import count_bits

    parts = hashes.array(".parts.npy")
    first = 0
    for start in range(0, len(parts), _BLOCK):
        block = np.array(parts[start : start + _BLOCK])
        sizes, counted = (np.ascontiguousarray(block[name]) for name in ("hashes", "counted"))
        seen = count_bits(bits, first, sizes, counted)
        first += int(sizes.sum(dtype=np.int64))
        # Dolma computes scores and the threshold with 32 bits.
        kind = np.float32 if rule.compat else np.float64
        scores = seen.astype(kind) / counted.astype(kind)
        least = kind(rule.ngram.threshold) if rule.by == "ngrams" else kind(1)
        if is_scored_in_integers(rule):
            given = seen.astype(np.int64)
        else:
            given = scores.astype(np.float64) if rule.compat else np.round(scores, DIGITS)
        yield _Scored(block, scores >= least, given)


def is_scored_in_integers(rule: Deduper) -> bool:
    """Returns whether scores are written without a decimal point, as Dolma 1.2.1 writes all but those of n-grams."""
    return rule.compat is not None and rule.by != "ngrams"


class _Spans:
    """The spans of the marked parts, row by row in ascending order."""

    def __init__(self, blocks: Iterator[_Scored]) -> None:
        self._spans = _spans(blocks)
        self._next = next(self._spans, None)

    def of(self, row: int) -> list[Span]:
        """Returns the spans of one document."""
        found = []
        while self._next is not None and self._next[0] == row:
            found.append(self._next[1])
            self._next = next(self._spans, None)
        return found


def _spans(blocks: Iterator[_Scored]) -> Iterator[tuple[int, Span]]:
    for parts, marked, scores in blocks:
        chosen = parts[marked]
        columns = (chosen["row"].tolist(), chosen["start"].tolist(), chosen["end"].tolist(), scores[marked].tolist())
        for row, start, end, score in zip(*columns, strict=True):
            yield row, (start, end, score)
