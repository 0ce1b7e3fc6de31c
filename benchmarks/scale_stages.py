"""The stages of the scale benchmark: what the assets do over all documents, on the arrays of a `Run`."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.related import BANDS, BITS, PERMUTATIONS
from benchmarks.scale_clusters import clusters, make_edges, make_sketches, make_texts
from benchmarks.scale_run import SHARD_ROWS, Array, Run
from benchmarks.scale_store import OF_CLUSTERS, THRESHOLD
from corpus_assets.dedup.documents.numbering import Edges, Span, pair_type
from corpus_assets.dedup.documents.ranges import by_digest
from corpus_assets.dedup.pairs.equal_keys import star_pairs
from corpus_assets.dedup.pairs.equal_texts import exact_pairs
from corpus_assets.dedup.pairs.unique import unique_pairs
from corpus_assets.dedup.signatures.bands import NO_KEY
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.signatures.sketches import WORD_BITS
from corpus_assets.dedup.similarity.check import Verification
from corpus_assets.dedup.similarity.jaccard import occurring, wanted
from corpus_assets.dedup.similarity.sketch_join import Load, compared, range_rows, row_type, with_sketches
from corpus_assets.split.decontaminate import unique_digests
from resources.spill import Buckets, Spill


def make_products(run: Run) -> dict[str, int]:
    """Not a stage: digests by range, band keys and sketches, as the shards' own stages store them."""
    return run.each(_make_shard, len(run.numbering.shards))


def _make_shard(run: Run, number: int) -> dict[str, int]:
    shard, first, stop = run.numbering.shards[number], *run.numbering.starts[number : number + 2]
    documents, everyone = np.arange(first, stop, dtype=np.uint64), np.ones(stop - first, dtype=np.bool_)
    keys, sketches = run.related.products(documents, everyone)
    table, starts = by_digest(run.related.digests(documents), everyone, run.ranges.count)
    for name, array in {"bands": keys, "digests": table, "digests.starts": starts}.items():
        run.save(f"{shard}.{name}", np.asarray(array))
    run.store.make_shard(shard, sketches)
    return {"documents": len(documents)}


def holdout(run: Run) -> dict[str, int]:
    """Distinct digests of one document in a hundred, as if these were held out."""
    blocks = (np.array(run.load(f"{shard}.digests")["digest"][::100]) for shard in run.numbering.shards)
    return {"held_out": _saved(run, unique_digests(blocks))}


def _saved(run: Run, digests: Array) -> int:
    run.save("holdout", digests)
    return len(digests)


def exact(run: Run) -> dict[str, int]:
    """Pairs of equal digests."""
    return run.each(_exact_range, run.ranges.count)


def _exact_range(run: Run, number: int) -> dict[str, int]:
    def texts() -> Iterator[tuple[Array, Array]]:
        for shard, first in zip(run.numbering.shards, run.numbering.starts, strict=False):
            for rows in run.of_range(f"{shard}.digests", number):
                yield rows["digest"], (rows["row"] + np.uint64(first)).astype(run.numbering.dtype)

    half, total = run.memory // 2, run.numbering.total
    found = exact_pairs(texts(), memory=half, spill=run.spill, dtype=run.numbering.dtype)
    unique = unique_pairs(found, total, 1 << 20, memory=half, spill=run.spill)
    return {"exact_pairs": run.write(f"exact-{number:03}", (block for _, block in unique), columns=2)}


def pairs(run: Run) -> dict[str, int]:
    """Candidate pairs of every band."""
    return run.each(_pairs_of_band, BANDS)


def _pairs_of_band(run: Run, band: int) -> dict[str, int]:
    copies = wanted((block[:, 1:] for block in run.blocks_of("exact")), run.numbering.total)

    def keys() -> Iterator[Array]:
        for shard, first, stop in zip(
            run.numbering.shards, run.numbering.starts, run.numbering.starts[1:], strict=False
        ):
            found = np.array(run.load(f"{shard}.bands")[band])
            found[occurring(copies, first, stop)] = NO_KEY
            yield found

    dtype, half = run.numbering.dtype, run.memory // 2
    edges = star_pairs(keys(), memory=half, spill=run.spill, dtype=dtype, chain=True)
    with Buckets(run.ranges.count, pair_type(dtype), half, run.spill) as rows:
        for block in edges:
            rows.append(run.ranges.of(block[:, 1]), np.ascontiguousarray(block).view(rows.dtype).reshape(-1))
        return {"candidate_edges": run.write_by_range(f"band-{band:02}", rows)}


def candidates(run: Run) -> dict[str, int]:
    """Candidates of all bands, each once, with a sketch."""
    return run.each(_candidates_of_range, run.ranges.count)


def _candidates_of_range(run: Run, number: int) -> dict[str, int]:
    total, rows_at_once, span = run.numbering.total, range_rows(BITS), run.ranges.span(number)
    given = (block["pair"] for band in range(BANDS) for block in run.of_range(f"band-{band:02}", number))
    unique = unique_pairs(given, total, rows_at_once, memory=run.memory // 2, spill=run.spill, span=span)
    row = row_type(total, BITS // WORD_BITS)
    with Buckets(run.ranges.count, row, run.memory // 4, run.spill) as rows:
        for some in with_sketches(unique, run.sketches().rows, span, range_rows=rows_at_once, row=row):
            rows.append(run.ranges.of(some["pair"][:, 0]), some)
        return {"candidate_pairs": run.write_by_range(f"candidates-{number:03}", rows)}


def verify(run: Run) -> dict[str, int]:
    """Candidates whose sketches agree often enough."""
    return run.each(_verify_range, run.ranges.count)


def _verify_range(run: Run, number: int) -> dict[str, int]:
    span, count = run.ranges.span(number), run.ranges.count
    given = (block for other in range(count) for block in run.of_range(f"candidates-{other:03}", number))
    total, half = run.numbering.total, run.memory // 2
    found = checked(given, run.sketches().rows, span, total=total, memory=half, spill=run.spill)
    return {"verified_pairs": run.write(f"verified-{number:03}", found, columns=2)}


def checked(
    given: Iterable[Array], sketches: Load, span: Span, *, total: int, memory: int, spill: Spill
) -> Iterator[Edges]:
    check = Verification(
        total=total,
        bits=BITS,
        texts=lambda _: (),
        scheme=SignatureScheme(permutations=PERMUTATIONS),
        threshold=THRESHOLD,
        memory=memory,
        spill=spill,
    )
    row = row_type(total, BITS // WORD_BITS)
    found = compared(given, sketches, span, range_rows=range_rows(BITS), row=row, memory=memory, spill=spill)
    return check.pairs(found, "signature")


def duplicates(run: Run) -> dict[str, int]:
    """Per shard a bitmap of what it loses."""
    removed = 0
    for shard in run.numbering.shards:
        block = run.numbering.block(run.load("components/clusters"), shard)
        lost = block[block[:, 0] != block[:, 1], 0].astype(np.int64) - run.numbering.first(shard)
        bitmap = np.zeros(SHARD_ROWS, dtype=np.bool_)
        bitmap[lost] = True
        run.save(f"{shard}.duplicates", np.packbits(bitmap))
        removed += len(lost)
    return {"duplicates": removed}


def compare(run: Run) -> dict[str, int]:
    """Not a stage: how many duplicates were found for the right document."""
    right = wrong = 0
    for block in run.blocks("components/clusters"):
        member, kept = block[:, 0].astype(np.uint64), block[:, 1].astype(np.uint64)
        own = run.related.clusters(member)
        same = (own >= 0) & (own == run.related.clusters(kept))
        right += int((same & (member != kept)).sum())
        wrong += int((~same & (member != kept)).sum())
    return {"known_duplicates": run.related.duplicates, "right": right, "wrong": wrong}


IN_PARTS = ("exact_duplicates", "duplicate_pairs", "candidate_pairs", "verified_pairs", *OF_CLUSTERS[1:3])
MEASURED = (*IN_PARTS[:4], *OF_CLUSTERS, "duplicates", "holdout_hashes")
_CLUSTERS = {name: partial(clusters, name) for name in OF_CLUSTERS}
STAGES: dict[str, Callable[[Run], dict[str, Any]]] = {
    "products": make_products,
    "holdout_hashes": holdout,
    "exact_duplicates": exact,
    "duplicate_pairs": pairs,
    "candidate_pairs": candidates,
    "verified_pairs": verify,
    "texts": make_texts,
    **_CLUSTERS,
    "duplicates": duplicates,
    "comparison": compare,
}
"""All stages, with those that make what they read."""

FROM_PAIRS: dict[str, Callable[[Run], dict[str, Any]]] = {
    "sketches": make_sketches,
    "edges": make_edges,
    "texts": make_texts,
    **_CLUSTERS,
    "duplicates": duplicates,
    "comparison": compare,
}
"""The stages from pairs on, with pairs that are made up."""

SPENT = {
    "exact_duplicates": ["*.digests.npy", "*.digests.starts.npy"],
    "duplicate_pairs": ["*.bands.npy"],
    "candidate_pairs": ["band-*.npy"],
    "verified_pairs": ["candidates-*.npy"],
    "texts": ["exact-*.npy", "verified-*.npy"],
    "cluster_members": ["minhashes/*.npy", "normalized_documents/*.npy"],
    "guarded_clusters": ["cluster_roots/*.npy"],
}
"""Outputs that no later stage reads."""
