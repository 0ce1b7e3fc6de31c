"""fast-dedup: a `MinHash` of each document, compared with each other one.

It has no index, and does not give its values to one, so all pairs are compared: the cost grows with their number.
"""

from collections.abc import Iterator
from pathlib import Path

from fast_dedup import MinHash  # type: ignore[import-not-found]

from benchmarks.peers.exchange import PERMUTATIONS, THRESHOLD, Result, batches, clusters_of, serve


def pairs(raw: Path) -> Iterator[tuple[int, int]]:
    """Each document with the earlier ones that resemble it."""
    earlier: list[tuple[int, MinHash]] = []
    for batch in batches(raw):
        for number, shingles in batch:
            signature = MinHash(num_permutations=PERMUTATIONS)
            for shingle in shingles:
                signature.update(shingle)
            yield from ((number, other) for other, known in earlier if signature.jaccard(known) >= THRESHOLD)
            earlier.append((number, signature))


def run(raw: Path, _: Path) -> Result:
    """Clusters of document numbers."""
    return clusters_of(pairs(raw))


if __name__ == "__main__":
    serve(run)
