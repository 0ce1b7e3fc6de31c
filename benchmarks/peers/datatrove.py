"""datatrove: its four MinHash blocks, one task per file, one task after the other in one process.

Shingles are words there (5, its default, cut by its English tokenizer); hashes and buckets are its own but for the
number of buckets, 16 of 8 instead of 14, so that a signature has 128 values.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import (
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

from benchmarks.peers.datatrove_files import read_clusters
from benchmarks.peers.exchange import PERMUTATIONS, Result, raw_files, serve

HASHES_PER_BUCKET = 8
BUCKETS = PERMUTATIONS // HASHES_PER_BUCKET


def run(raw: Path, work: Path) -> Result:
    """Clusters of document numbers, from the files that the third block leaves for the fourth."""
    files = raw_files(raw)
    rows = [0] * len(files)
    listed = work / "files.txt"
    listed.write_text("".join(f"{file.relative_to(raw)}\n" for file in files), encoding="utf-8")
    config = MinhashConfig(num_buckets=BUCKETS, hashes_per_bucket=HASHES_PER_BUCKET)
    places = {name: str(work / name) for name in ("signatures", "buckets", "clusters", "output")}

    def count(documents: Iterator[Any], rank: int, _: int) -> Iterator[Any]:
        for document in documents:
            rows[rank] += 1
            yield document

    reader = JsonlReader(str(raw), paths_file=str(listed))
    signature = MinhashDedupSignature(output_folder=places["signatures"], config=config)
    buckets = MinhashDedupBuckets(places["signatures"], places["buckets"], config=config)
    cluster = MinhashDedupCluster(places["buckets"], places["clusters"], config=config, save_cluster_id=True)
    blocks: list[tuple[int, list[Any]]] = [
        (len(files), [reader, count, signature]),
        (BUCKETS, [buckets]),
        (1, [cluster]),
        (len(files), [reader, MinhashDedupFilter(places["clusters"]), JsonlWriter(places["output"])]),
    ]
    for number, (tasks, steps) in enumerate(blocks):
        LocalPipelineExecutor(steps, tasks=tasks, workers=1, logging_dir=str(work / f"logs-{number}")).run()
    return read_clusters(work / "clusters", rows)


if __name__ == "__main__":
    serve(run)
