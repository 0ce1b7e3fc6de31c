"""The sample corpus built twice, as `make demo` does: `python -m benchmarks.demo [--quick] [--json]`.

Wall seconds and peak memory (of the largest process, and of all together) of a build on a fresh machine, which has no
compiled kernels; of the same build with them; and of a second one, in which everything is fresh.
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

from corpus_assets.raw.sample import write_sample

ROOT = Path(__file__).resolve().parents[1]
MEGABYTES, QUICK_MEGABYTES = 24, 2
_POLL_SECONDS = 0.05


def timed_build(folder: Path, kernels: Path) -> dict[str, Any]:
    """Run `corpus build --json` in `folder`, with compiled kernels in `kernels`; wall seconds and peak memory."""
    started = time.monotonic()
    corpus = str(Path(sys.executable).with_name("corpus"))
    environment = {key: value for key, value in os.environ.items() if key not in ("DAGSTER_HOME", "CORPUS_CONFIG")}
    environment |= {"NUMBA_CACHE_DIR": str(kernels)}
    command = [corpus, "build", "--json"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        largest = together = 0
        while process.poll() is None:
            sizes = _memory(process.pid)
            largest, together = max([largest, *sizes]), max(together, sum(sizes))
            time.sleep(_POLL_SECONDS)
        assert process.stdout is not None
        report = json.loads(process.stdout.read().splitlines()[-1])
    if process.returncode:
        raise SystemExit(f"the build failed: {report}")
    seconds = round(time.monotonic() - started, 2)
    megabytes = {"largest_process_mb": largest >> 20, "all_processes_mb": together >> 20}
    return {"seconds": seconds, "recomputed": report["recomputed"], **megabytes}


def _memory(pid: int) -> list[int]:
    """Resident bytes of a process and everything below it."""
    sizes = []
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
    for process in family:
        try:
            sizes.append(process.memory_info().rss)
        except psutil.NoSuchProcess:
            continue
    return sizes


def measure(megabytes: float) -> dict[str, Any]:
    """Make the sample, build it without compiled kernels and with them, and build it again."""
    with tempfile.TemporaryDirectory() as name:
        folder, kernels = Path(name) / "corpus", Path(name) / "kernels"
        folder.mkdir()
        for file in ("corpus.yaml", "dagster.yaml"):
            shutil.copy(ROOT / file, folder / file)
        started = time.monotonic()
        summary = write_sample(folder / "data" / "raw", megabytes=megabytes)
        made = round(time.monotonic() - started, 2)
        figures: dict[str, Any] = {"sample_mb": round(summary.text_bytes / 1e6, 2), "sample_s": made}
        for which in ("fresh", "first", "second"):
            if which == "first":
                shutil.rmtree(folder / "data" / "corpus")
                shutil.rmtree(folder / ".dagster_home")
            for key, value in timed_build(folder, kernels).items():
                figures[f"{which}_build_{key}"] = value
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
