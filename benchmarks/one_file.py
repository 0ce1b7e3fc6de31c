"""What a build of one small file costs: `python -m benchmarks.one_file [--quick] [--json]`. Linux only.

CPU seconds (user and system) of all processes of `corpus build`, over 20 documents in one JSON-lines file, with one
dataset and a trained tokenizer: of a build into an empty store, of one after the file changed, and of one with nothing
to do. Kernels and Python's bytecode are compiled before. The least of several builds counts: more is other work of the
machine. `driver_cpu_s` is the share of the process that drives the first build; workers have the rest.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from benchmarks.demo import OF_THE_USER
from benchmarks.driver import write_shard
from benchmarks.printed import printed

DOCUMENTS, ROUNDS, QUICK_ROUNDS = 20, 7, 1
_PR_SET_CHILD_SUBREAPER = 36
_ONE = "import sys; from benchmarks.one_file import one_build; one_build()"


class Cost(NamedTuple):
    """CPU seconds of all processes of a build, and of its driver; wall seconds."""

    cpu_s: float
    driver_cpu_s: float
    seconds: float


def write_corpus(folder: Path) -> Path:
    """One raw file, and a corpus.yaml with one dataset."""
    (folder / "raw").mkdir(parents=True)
    write_shard(folder, 0, "first", DOCUMENTS)
    config = {
        "sources": [{"name": "made", "location": "raw"}],
        "storage": {"root": "corpus"},
        "tokenizer": {"kind": "train", "vocabulary": 300},
        "datasets": [{"name": "train", "input": "decontaminated_train", "sequence_length": 64}],
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config))
    return folder


def one_build() -> None:
    """Runs `corpus build` here, and prints the CPU seconds of all its processes, orphans too, and of its driver."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # Workers are orphans when they end: we wait for them.
    driver = subprocess.Popen([str(Path(sys.executable).with_name("corpus")), "build", "-q"], stdout=subprocess.DEVNULL)
    spent: dict[int, float] = {}
    while True:
        try:
            pid, status, used = os.wait4(-1, 0)
        except ChildProcessError:
            break
        spent[pid] = used.ru_utime + used.ru_stime
        if pid == driver.pid and status:
            raise SystemExit("the build failed")
    print(sum(spent.values()), spent[driver.pid])


def _build(folder: Path, cache: Path | None) -> Cost:
    """cache: where kernels and bytecode are; None for those of the user."""
    environment = {key: value for key, value in os.environ.items() if key not in OF_THE_USER}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if cache is not None:
        environment |= {"XDG_CACHE_HOME": str(cache), "PYTHONPYCACHEPREFIX": str(cache / "bytecode")}
    environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[1])
    started = time.monotonic()
    command = [sys.executable, "-c", _ONE]
    done = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    cpu, driver = map(float, done.stdout.split())
    return Cost(cpu, driver, time.monotonic() - started)


def measure(quick: bool) -> dict[str, Any]:
    """CPU and wall seconds of the three kinds of builds."""
    costs: dict[str, list[Cost]] = {"": [], "changed_": [], "nothing_": []}
    with tempfile.TemporaryDirectory() as place:
        folder, cache = write_corpus(Path(place, "one")), None if quick else Path(place, "cache")
        _build(folder, cache)  # Compiles.
        for number in range(QUICK_ROUNDS if quick else ROUNDS):
            for left in ("corpus", ".dagster_home"):
                shutil.rmtree(folder / left)
            costs[""].append(_build(folder, cache))
            write_shard(folder, 0, f"changed {number}", DOCUMENTS)
            costs["changed_"].append(_build(folder, cache))
            costs["nothing_"].append(_build(folder, cache))
    return {
        f"{name}{key}": round(min(getattr(cost, key) for cost in found), 2)
        for name, found in costs.items()
        for key in Cost._fields
    }


def main() -> None:
    printed(__doc__, measure)


if __name__ == "__main__":
    main()
