"""The cost of starting a command: `python -m benchmarks.command [--quick] [--json]`.

CPU seconds (user and system) of whole processes, the least of several runs: `corpus --help`, `corpus plan` on a fresh
corpus of three shards, and Python itself beside them. The number of modules each loads does not depend on the machine.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.synthetic import write_synthetic

RUNS, QUICK_RUNS = 7, 3
_AS_COMMAND = "import sys; sys.argv = ['corpus', *sys.argv[1:]]; from corpus_assets.cli import main; main()"
_COUNTING = "import atexit, sys; atexit.register(lambda: print(len(sys.modules), file=sys.stderr)); "


def measure(runs: int) -> dict[str, Any]:
    """CPU seconds and loaded modules by command."""
    with tempfile.TemporaryDirectory() as folder:
        write_synthetic(Path(folder), 3)
        commands = {"corpus_help": ["--help"], "corpus_plan": ["plan", "-c", f"{folder}/corpus.yaml"]}
        figures: dict[str, Any] = {"python_cpu_s": _cpu_seconds(["-c", "pass"], runs)}
        for name, arguments in commands.items():
            figures[f"{name}_cpu_s"] = _cpu_seconds(["-c", _AS_COMMAND, *arguments], runs)
            figures[f"{name}_modules"] = _modules(["-c", _COUNTING + _AS_COMMAND, *arguments])
    return figures


def _cpu_seconds(arguments: list[str], runs: int) -> float:
    """The least of several runs; anything above it is other work of the machine."""
    return round(min(_one_run(arguments) for _ in range(runs)), 3)


def _one_run(arguments: list[str]) -> float:
    with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{arguments[-1]} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def _modules(arguments: list[str]) -> int:
    done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True)
    return int(done.stderr.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = measure(QUICK_RUNS if given.quick else RUNS)
    if given.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:24}{value:>10,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
