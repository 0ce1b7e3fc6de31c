"""What a plan costs: `python -m benchmarks.plan [--quick] [--json]`.

The ledger is that of a finished corpus that was never computed (`benchmarks.synthetic`), with the default bands and
chunks. `first_look` reads every record; `again` is a new process's look with the snapshots the first one left.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.synthetic import write_synthetic
from corpus_assets.corpus import Corpus
from resources.ledger import SNAPSHOTS
from resources.planning.planner import Status

SHARDS, QUICK_SHARDS = (1_000, 10_000), (1_000,)


def measure(shards: Sequence[int]) -> dict[str, Any]:
    """Seconds per plan, by number of shards."""
    figures: dict[str, Any] = {}
    for number in shards:
        with tempfile.TemporaryDirectory() as folder:
            corpus = write_synthetic(Path(folder), number)
            shutil.rmtree(Path(corpus.storage.fetch(SNAPSHOTS)))
            config = Path(folder) / "corpus.yaml"
            figures[f"plan_{number}_shards_first_look_s"], _ = _plan(config)
            figures[f"plan_{number}_shards_again_s"], figures[f"plan_{number}_shards_partitions"] = _plan(config)
    return figures


def _plan(config: Path) -> tuple[float, int]:
    started = time.perf_counter()
    decisions = Corpus.open(config).planner().plan().decisions
    seconds = round(time.perf_counter() - started, 2)
    assert all(decision.status is Status.FRESH for decision in decisions), "the synthetic corpus is not fresh"
    return seconds, len(decisions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,000 shards only")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = measure(QUICK_SHARDS if given.quick else SHARDS)
    if given.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:40}{value:>12,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
