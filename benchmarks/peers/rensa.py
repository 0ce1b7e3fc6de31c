"""rensa: each document's `RMinHash` queries the `RMinHashLSH` index before it is inserted.

As in its documentation, a candidate counts when the estimated similarity of the two signatures reaches the threshold.
"""

from collections.abc import Iterator
from pathlib import Path

from rensa import RMinHash, RMinHashLSH  # type: ignore[import-not-found]

from benchmarks.peers.exchange import PERMUTATIONS, THRESHOLD, Result, batches, clusters_of, serve

SEED = 42
BANDS = 16


def pairs(raw: Path) -> Iterator[tuple[int, int]]:
    """Each document with the earlier ones that resemble it."""
    index = RMinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=BANDS)
    signatures: dict[int, RMinHash] = {}
    for batch in batches(raw):
        for number, shingles in batch:
            signature = RMinHash(num_perm=PERMUTATIONS, seed=SEED)
            signature.update(list(shingles))
            for earlier in index.query(signature):
                if signature.jaccard(signatures[earlier]) >= THRESHOLD:
                    yield number, earlier
            index.insert(number, signature)
            signatures[number] = signature


def run(raw: Path, _: Path) -> Result:
    """Clusters of document numbers."""
    return clusters_of(pairs(raw))


if __name__ == "__main__":
    serve(run)
