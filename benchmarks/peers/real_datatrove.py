"""Runs in an environment that has datatrove: CPU seconds of its steps over documents, one task after the other.

Arguments: a folder of `documents/<source>/*.jsonl.gz`, and an empty folder to leave files in. The last line of standard
output: `{step: seconds}`.
"""

import json
import sys
import time
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
from datatrove.pipeline.filters import C4QualityFilter, GopherQualityFilter, GopherRepetitionFilter
from datatrove.pipeline.formatters import PIIFormatter
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

BUCKETS, HASHES = 16, 8


def main() -> None:
    raw, work = Path(sys.argv[1], "documents"), Path(sys.argv[2])
    tasks = len(list(raw.rglob("*.jsonl.gz")))
    places = {name: str(work / name) for name in ("signatures", "buckets", "clusters", "output", "kept")}
    config = MinhashConfig(num_buckets=BUCKETS, hashes_per_bucket=HASHES)
    reader = JsonlReader(str(raw), recursive=True, glob_pattern="*/*.jsonl.gz")
    filters = [GopherRepetitionFilter(), GopherQualityFilter(), C4QualityFilter(), PIIFormatter()]
    steps: dict[str, list[tuple[int, list[Any]]]] = {
        "taggers and filter": [(tasks, [reader, *filters, JsonlWriter(places["kept"])])],
        "near-duplicates": [
            (tasks, [reader, MinhashDedupSignature(output_folder=places["signatures"], config=config)]),
            (BUCKETS, [MinhashDedupBuckets(places["signatures"], places["buckets"], config=config)]),
            (1, [MinhashDedupCluster(places["buckets"], places["clusters"], config=config)]),
            (tasks, [reader, MinhashDedupFilter(places["clusters"]), JsonlWriter(places["output"])]),
        ],
    }
    seconds = {}
    for name, blocks in steps.items():
        started = time.process_time()
        for number, (count, block) in enumerate(blocks):
            logs = str(work / "logs" / f"{name}-{number}")
            LocalPipelineExecutor(block, tasks=count, workers=1, logging_dir=logs).run()
        seconds[name] = time.process_time() - started
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
