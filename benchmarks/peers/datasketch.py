"""datasketch: `MinHash.bulk`, then each document queries the `MinHashLSH` index before it is inserted.

What the index returns counts as a duplicate, unchecked, as in the examples of its documentation.
"""

from collections.abc import Iterator
from pathlib import Path

from datasketch import MinHash, MinHashLSH

from benchmarks.peers.exchange import PERMUTATIONS, THRESHOLD, Result, batches, clusters_of, serve


def pairs(raw: Path) -> Iterator[tuple[int, int]]:
    """Each document with the earlier ones that the index returns for it."""
    index = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
    for batch in batches(raw):
        encoded = [[shingle.encode() for shingle in shingles] for _, shingles in batch]
        signatures = MinHash.bulk(encoded, num_perm=PERMUTATIONS)
        for (number, _), signature in zip(batch, signatures, strict=True):
            yield from ((number, earlier) for earlier in index.query(signature))
            index.insert(number, signature)


def run(raw: Path, _: Path) -> Result:
    """Clusters of document numbers."""
    return clusters_of(pairs(raw))


if __name__ == "__main__":
    serve(run)
