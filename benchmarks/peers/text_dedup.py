"""text-dedup: its `minhash` module as its command line runs it, in one process.

Shingles are words there. Short documents take part (`min_length=1`): at its default it would drop them all.
"""

from pathlib import Path

from text_dedup import minhash  # type: ignore[import-not-found]
from text_dedup.utils import IOArgs, MetaArgs, MinHashArgs  # type: ignore[import-not-found]

from benchmarks.peers.exchange import PERMUTATIONS, THRESHOLD, Result, clusters_of, raw_files, serve


def run(raw: Path, work: Path) -> Result:
    """Clusters of document numbers, out of the union-find that the module leaves behind."""
    io = IOArgs(
        path="json",
        data_files=[str(file) for file in raw_files(raw)],
        split="train",
        output=str(work / "output"),
        cache_dir=str(work / "cache"),
        num_proc=None,
    )
    settings = MinHashArgs(num_perm=PERMUTATIONS, threshold=THRESHOLD, min_length=1)
    minhash.main.callback(io_args=io, meta_args=MetaArgs(column="text"), minhash_args=settings)
    return clusters_of((number, minhash.uf.find(number)) for number in list(minhash.uf.parent))


if __name__ == "__main__":
    serve(run)
