"""LSHBloom (Khan and others 2024), as datasketch has it: a Bloom filter for each band instead of an index.

It says whether a document resembles an earlier one, not which, so the answer is what it removes.
"""

from collections.abc import Iterator
from pathlib import Path

from datasketch import MinHash, MinHashLSHBloom

from benchmarks.peers.exchange import PERMUTATIONS, THRESHOLD, Result, batches, read_documents, serve

ERROR = 1e-5
"""Share of false positives of a filter, as in the paper."""


def removed(raw: Path, work: Path) -> Iterator[int]:
    """Numbers of the documents that resemble an earlier one."""
    count = sum(1 for _ in read_documents(raw))
    index = MinHashLSHBloom(
        threshold=THRESHOLD, num_perm=PERMUTATIONS, n=max(count, 1), fp=ERROR, save_dir=str(work / "filters")
    )
    for batch in batches(raw):
        encoded = [[shingle.encode() for shingle in shingles] for _, shingles in batch]
        for (number, _), signature in zip(batch, MinHash.bulk(encoded, num_perm=PERMUTATIONS), strict=True):
            if index.query(signature):
                yield number
            else:
                index.insert(signature)


def run(raw: Path, work: Path) -> Result:
    """Ids of removed documents."""
    names = [name for name, _ in read_documents(raw)]
    return [names[number] for number in removed(raw, work)]


if __name__ == "__main__":
    serve(run)
