"""The asset `contained_pairs`: documents of a range that stand within others, and within which."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.containment.candidates import possible_holders
from corpus_assets.dedup.containment.holders import seen_rows
from corpus_assets.dedup.containment.shared import HOLDING, PAIRS, SHARES, UNITS, shingling_of
from corpus_assets.dedup.documents.numbering import Edges, Numbering, Span, pair_type
from corpus_assets.dedup.shared import (
    numbering_of,
    range_number,
    ranges_of,
    require_numbering,
    rows_of_range,
    save_numbering,
    segment_rows,
    texts_of,
)
from corpus_assets.dedup.similarity.containment import Common, common_shingles
from corpus_assets.dedup.similarity.jaccard import wanted
from corpus_assets.dedup.templates.reading import templates_of
from resources.spill import Buckets
from resources.stage.task import Task

_AT_ONCE = 1 << 10
"""Documents whose pairs are looked at together: a quarter of a million rows at most."""

_TOGETHER = 1 << 12
"""Documents next to each other whose pairs are sorted together."""


def contained_pairs(task: Task) -> None:
    """Writes the pairs (document, one that holds it) of a range of documents, and the shares."""
    candidates, documents = task.inputs("containment_candidates"), task.inputs("normalized_documents")
    numbering = numbering_of(documents)
    require_numbering(numbering, candidates, ".shards.json")
    left_out: list[int] = []
    path, compared = f"contained_pairs/{task.key}", 0
    with (
        Buckets(numbering.total // _TOGETHER + 1, pair_type(numbering.dtype), task.memory // 4, task.scratch) as pairs,
        task.array(f"{path}{PAIRS}", numbering.dtype, (2,)) as out,
        task.array(f"{path}{SHARES}", np.uint32) as shares,
    ):
        for found in _possible(task, numbering, left_out):
            pairs.append((found[:, 1] // numbering.dtype.type(_TOGETHER)).astype(np.int64), _as_one(found, pairs.dtype))
        occurring = wanted(_sorted(pairs), numbering.total)
        texts = texts_of(documents, numbering, occurring)
        counted = common_shingles(
            _sorted(pairs),
            texts,
            shingling_of(task),
            memory=task.memory // 2,
            spill=task.scratch,
            template=templates_of(task, numbering),
        )
        for block in counted:
            compared += len(block.pairs)
            for edges, held in _held(block, task[HOLDING]):
                out.append(edges)
                shares.append(held)
    save_numbering(task, f"{path}.shards.json", numbering)
    given, count = rows_of_range(candidates, task.key), out.written.rows
    task.count(rows_in=given, rows_out=count, compared=compared, pairs=count, not_compared=sum(left_out))


def _possible(task: Task, numbering: Numbering, left_out: list[int]) -> Iterator[Edges]:
    """Yields the pairs to compare; appends to `left_out` how many are not compared."""
    kind, span = seen_rows(numbering.dtype), ranges_of(task, numbering).span(range_number(task.key))
    rows = segment_rows(task.inputs("containment_candidates"), ".npy", task.key, kind)
    with Buckets(-(-(span[1] - span[0]) // _AT_ONCE), kind, task.memory // 4, task.scratch) as by_document:
        for block in rows:
            by_document.append(_bucket(block["pair"][:, 0], span), block)
        for number in range(len(by_document)):
            whole = np.concatenate([np.empty(0, kind), *by_document.rows(number)])
            found, more = possible_holders(whole, task[HOLDING])
            left_out.append(more)
            yield found


def _bucket(documents: NDArray[np.unsignedinteger[Any]], span: Span) -> NDArray[np.int64]:
    found: NDArray[np.int64] = (documents.astype(np.int64) - span[0]) // _AT_ONCE
    return found


def _as_one(pairs: Edges, kind: np.dtype[Any]) -> NDArray[np.void]:
    return np.ascontiguousarray(pairs).view(kind).reshape(-1)


def _sorted(pairs: Buckets) -> Iterator[Edges]:
    """Yields the pairs, sorted by the second document."""
    for number in range(len(pairs)):
        held = [block["pair"] for block in pairs.rows(number)]
        if held:
            whole = np.concatenate(held)
            yield whole[np.lexsort((whole[:, 0], whole[:, 1]))]


def _held(found: Common, least: float) -> Iterator[tuple[Edges, NDArray[np.uint32]]]:
    """Yields the pairs (document, one that holds it), both ways round, and the shares in millionths."""
    shares = found.shares()
    for side, edges in enumerate((found.pairs, found.pairs[:, ::-1])):
        chosen = shares[:, side] >= least
        yield np.ascontiguousarray(edges[chosen]), (shares[chosen, side] * UNITS).astype(np.uint32)
