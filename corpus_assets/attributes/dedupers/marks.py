"""The asset `<name>_attributes` of a deduper: the repeated parts of each document, as an attribute."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.dedupers.earlier import seen_in
from corpus_assets.attributes.dedupers.subjects import PARTS
from corpus_assets.attributes.tagging import DIGITS
from corpus_assets.config.dedupers import Deduper
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
    """Some parts of a shard (n,): as they are stored, which are marked, and with which score."""

    parts: NDArray[np.void]
    marked: NDArray[np.bool_]
    scores: NDArray[np.float64]


def marks(task: Task, rule: Deduper) -> None:
    """Marks what came before in the corpus: a row for each document, with the spans of its repeated parts."""
    documents, hashes = task.input("normalized_documents"), task.input(f"{rule.name}_hashes")
    texts = documents.array(".texts.npy")
    bits = _seen_bits(task.input(f"{rule.name}_seen"), hashes)
    compared, repeated = np.zeros(len(texts), dtype=np.int64), np.zeros(len(texts), dtype=np.int64)
    spans = 0
    for scored in _scored(hashes, bits, rule):
        rows, sizes = scored.parts["row"], np.maximum(_sizes(scored.parts), 1)
        np.add.at(compared, rows, sizes)
        # A score of 0 is listed where the threshold is 0, and says that nothing is repeated.
        above = scored.marked & (scored.scores > 0)
        np.add.at(repeated, rows[above], sizes[above])
        spans += int(scored.marked.sum())
    flagged = (compared > 0) & (repeated >= rule.flag_share * compared)
    found = _Spans(_scored(hashes, bits, rule))
    ids = identifiers(texts["id_end"], documents.array(".ids.npy"))
    with task.attributes(rule.name) as out:
        for row, identifier in enumerate(ids):
            attributes = {rule.key: found.of(row)}
            if not attributes[rule.key] and not _empty_list(rule, bool(compared[row]), int(texts["bytes"][row])):
                attributes = {}
            out.add(_Document(identifier, task.shard.source), attributes, flagged=bool(flagged[row]))
    task.count(rows_in=out.rows, rows_out=out.rows, spans=spans, flagged=int(flagged.sum()))


def _sizes(parts: NDArray[np.void]) -> NDArray[np.int64]:
    return np.asarray(parts["end"].astype(np.int64) - parts["start"])


def _empty_list(rule: Deduper, compared: bool, size: int) -> bool:
    """Returns whether a row without spans has an empty list: never, or as Dolma 1.2.1 does."""
    if rule.compat is None:
        return False
    return size > 0 if rule.by in PARTS else not compared


def _seen_bits(whole: Partition, hashes: Partition) -> NDArray[np.uint8]:
    """Returns a bit for each hash of a shard, in the order of its parts: whether it came before in the corpus."""
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
        # Dolma computes with 32 bits, and compares with the threshold as 32 bits too.
        kind = np.float32 if rule.compat else np.float64
        scores = seen.astype(kind) / counted.astype(kind)
        least = kind(rule.ngram.threshold) if rule.by == "ngrams" else kind(1)
        given = scores.astype(np.float64) if rule.compat else np.round(scores, DIGITS)
        yield _Scored(block, scores >= least, given)


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
