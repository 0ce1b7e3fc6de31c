"""The sample corpus built twice, as `make demo` does: `python -m benchmarks.demo [--quick] [--json]`.

`sample_s` is the time of `corpus sample`. Wall and CPU seconds and peak memory (of the largest process, and of all
together) of a build on a fresh machine, which has no compiled kernels and an empty cache folder; of the same build with
both; and of a second one, in which everything is fresh. `fresh_to_first` is the time of the first of these over that of
the second.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from corpus_assets.raw.sample.writing import write_sample

ROOT = Path(__file__).resolve().parents[1]
MEGABYTES, QUICK_MEGABYTES = 24, 2
_POLL_SECONDS = 0.05
OF_THE_USER = ("DAGSTER_HOME", "CORPUS_CONFIG", "NUMBA_CACHE_DIR")


def timed_build(folder: Path, cache: Path) -> dict[str, Any]:
    """Run `corpus build --json` in `folder`, with the user's cache in `cache`; wall and CPU seconds and peak memory."""
    started = time.monotonic()
    environment = {key: value for key, value in os.environ.items() if key not in OF_THE_USER}
    environment |= {"XDG_CACHE_HOME": str(cache)}
    command = [_corpus(), "build", "--json"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        largest = together = 0
        used: dict[int, float] = {}
        while process.poll() is None:
            family = _family(process.pid)
            sizes = [size for size, _ in family.values()]
            largest, together = max([largest, *sizes]), max(together, sum(sizes))
            used |= {pid: spent for pid, (_, spent) in family.items()}
            time.sleep(_POLL_SECONDS)
        assert process.stdout is not None
        report = json.loads(process.stdout.read().splitlines()[-1])
    if process.returncode:
        raise SystemExit(f"the build failed: {report}")
    seconds = round(time.monotonic() - started, 2)
    megabytes = {"largest_process_mb": largest >> 20, "all_processes_mb": together >> 20}
    spent = {"seconds": seconds, "cpu_s": round(sum(used.values()), 2)}
    return {**spent, "recomputed": report["recomputed"], **megabytes}


def _timed_sample(root: Path, megabytes: float) -> float:
    """Make the sample by `corpus sample`; wall seconds."""
    started = time.monotonic()
    command = [_corpus(), "sample", str(root), "--megabytes", str(megabytes)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return round(time.monotonic() - started, 2)


def _corpus() -> str:
    return str(Path(sys.executable).with_name("corpus"))


def _family(pid: int) -> dict[int, tuple[int, float]]:
    """Resident bytes and CPU seconds of a process and everything below it."""
    found = {}
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return {}
    for process in family:
        try:
            times = process.cpu_times()
            found[process.pid] = process.memory_info().rss, times.user + times.system
        except psutil.NoSuchProcess:
            continue
    return found


def measure(megabytes: float) -> dict[str, Any]:
    """Make the sample, build it without compiled kernels and with them, and build it again."""
    with tempfile.TemporaryDirectory() as name:
        folder, cache = Path(name) / "corpus", Path(name) / "cache"
        folder.mkdir()
        for file in ("corpus.yaml", "dagster.yaml"):
            shutil.copy(ROOT / file, folder / file)
        made = _timed_sample(folder / "data" / "raw", megabytes)
        summary = write_sample(folder / "data" / "raw", megabytes=megabytes)
        figures: dict[str, Any] = {"sample_mb": round(summary.text_bytes / 1e6, 2), "sample_s": made}
        for which in ("fresh", "first", "second"):
            if which == "first":
                shutil.rmtree(folder / "data" / "corpus")
                shutil.rmtree(folder / ".dagster_home")
            for key, value in timed_build(folder, cache).items():
                figures[f"{which}_build_{key}"] = value
        for key in ("seconds", "cpu_s"):
            figures[f"fresh_to_first_{key}"] = round(figures[f"fresh_build_{key}"] / figures[f"first_build_{key}"], 2)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_MEGABYTES} MB of text instead of {MEGABYTES}")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = measure(QUICK_MEGABYTES if given.quick else MEGABYTES)
    if given.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:36}{value:>12,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
