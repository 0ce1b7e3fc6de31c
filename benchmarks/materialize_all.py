"""All assets materialized from the web UI: `python -m benchmarks.materialize_all [--quick] [--json]`.

The sample corpus is built by `corpus build`; then `corpus ui` starts, and a backfill over all partitions of all assets
is launched as the button "Materialize all" does: once with everything fresh, and once with an empty store (`new`).

`clock` is the time until the backfill is complete, `materialize_all_s` and `materialize_all_new_s` are those seconds of
it in which a run was starting or running. In the others Dagster's daemon waits: it looks at backfills every 30 seconds,
and at queued runs every 5.
"""

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.demo import MEGABYTES, QUICK_MEGABYTES, ROOT, timed_build
from benchmarks.ui_server import Server, serving
from corpus_assets.raw.sample.writing import write_sample

_LAUNCH = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
    ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
_STATUS = """query($b: String!) { partitionBackfillOrError(backfillId: $b) { ... on PartitionBackfill {
    status } } }"""
_RUNS = """query($f: RunsFilter!) { runsOrError(filter: $f) { ... on Runs { results { stats {
    ... on RunStatsSnapshot { launchTime endTime } } } } } }"""


def measure(megabytes: float) -> dict[str, Any]:
    """The figures of a sample corpus of a size."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("corpus.yaml", "dagster.yaml"):
            shutil.copyfile(ROOT / name, folder / name)
        write_sample(folder / "data/raw", megabytes=megabytes)
        partitions = timed_build(folder, folder / "kernels")["recomputed"]
        with serving(folder) as server:
            fresh = materialize_all(server)
            shutil.rmtree(folder / "data/corpus")
            new = materialize_all(server)
    return {
        "materialize_all_s": fresh["running_s"],
        "materialize_all_new_s": new["running_s"],
        "clock_s": fresh["clock_s"],
        "new_clock_s": new["clock_s"],
        "partitions": partitions,
        "runs": fresh["runs"],
        "new_runs": new["runs"],
    }


def materialize_all(server: Server) -> dict[str, Any]:
    """The figures of one backfill over everything."""
    assets = [node["assetKey"] for node in server.ask("{ assetNodes { assetKey { path } } }")["assetNodes"]]
    started = time.time()
    launched = server.ask(_LAUNCH, p={"allPartitions": True, "assetSelection": assets})["launchPartitionBackfill"]
    backfill = launched["backfillId"]
    while (found := server.ask(_STATUS, b=backfill)["partitionBackfillOrError"])["status"] == "REQUESTED":
        time.sleep(0.5)
    seconds = time.time() - started
    if found["status"] != "COMPLETED_SUCCESS":
        raise SystemExit(f"the backfill ended with {found['status']}")
    tags = [{"key": "dagster/backfill", "value": backfill}]
    runs = [run["stats"] for run in server.ask(_RUNS, f={"tags": tags})["runsOrError"]["results"]]
    return {
        "runs": len(runs),
        "clock_s": round(seconds, 1),
        "running_s": round(sum(run["endTime"] - run["launchTime"] for run in runs), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smaller sample")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = measure(QUICK_MEGABYTES if given.quick else MEGABYTES)
    if given.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:32}{value:>12,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
