"""`corpus estimate` compared with the build that it predicts: `python -m benchmarks.estimate [--quick] [--json]`.

Ratios of estimate to build for the sample corpus of `make demo` and, if the generator lies beside the checkout, for one
of its corpora with near-duplicates: documents, tokens of every dataset, CPU seconds of the stages and of the driver,
wall seconds, and bytes on disk. Kernels are compiled before either.
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

from benchmarks.corpora import GENERATOR, write_corpus
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.raw.sample.writing import write_sample

ROOT = Path(__file__).resolve().parents[1]
MEGABYTES, QUICK_MEGABYTES = {"demo": 24, "generated": 96}, {"demo": 6, "generated": 12}
SECONDS, QUICK_SECONDS = 60, 20


def measure(sizes: dict[str, int], seconds: float) -> dict[str, Any]:
    """Figures of each corpus."""
    with tempfile.TemporaryDirectory() as name:
        figures = {"demo": _compared(_demo(Path(name, "demo"), sizes["demo"]), seconds)}
        if GENERATOR.is_file():
            figures["generated"] = _compared(_generated(Path(name, "generated"), sizes["generated"]), seconds)
    return figures


def _demo(folder: Path, megabytes: int) -> Path:
    folder.mkdir()
    for file in ("corpus.yaml", "dagster.yaml"):
        shutil.copy(ROOT / file, folder / file)
    write_sample(folder / "data" / "raw", megabytes=megabytes)
    return folder


def _generated(folder: Path, megabytes: int) -> Path:
    folder.mkdir()
    path, _ = write_corpus(folder, megabytes)
    path.write_text(path.read_text().replace("workers: 0", "workers: 2"))
    return folder


def _compared(folder: Path, seconds: float) -> dict[str, Any]:
    guess, _, _ = _run(folder, "estimate", "--json", f"--seconds={seconds:g}")
    _, driver, wall = _run(folder, "build", "--json")
    corpus = Corpus.open(folder / "corpus.yaml")
    planner = corpus.planner()
    records = [record for stage in corpus.graph for record in planner.records(stage.name).values()]
    real = {
        "documents": sum(record.statistics["rows_in"] for record in records if record.asset == "normalized_documents"),
        "stage_cpu_s": sum(record.statistics.get("cpu_seconds", 0.0) for record in records),
        "driver_cpu_s": driver,
        "wall_s": wall,
        "disk_mb": sum(path.stat().st_size for path in (Path(corpus.storage.place)).rglob("*") if path.is_file()) / 1e6,
    }
    stages = sum(one["cpu_seconds"]["value"] for one in guess["stages"])
    guessed = {
        "documents": guess["documents"]["value"],
        "stage_cpu_s": stages + guess["start_cpu_seconds"],
        "driver_cpu_s": guess["driver_cpu_seconds"],
        "wall_s": guess["wall_seconds"]["value"],
        "disk_mb": guess["disk_bytes"]["value"] / 1e6,
    }
    for name, count in _tokens(folder).items():
        real[f"tokens_{name}"], guessed[f"tokens_{name}"] = count, guess["tokens"][name]["value"]
    figures: dict[str, Any] = {"estimate_s": guess["seconds"], "shares": guess["shares"]}
    for key, value in real.items():
        figures[key] = round(value, 2)
        figures[f"{key}_ratio"] = round(guessed[key] / value, 3) if value else None
    cpu = guess["cpu_seconds"]["error"] / max(1e-9, guess["cpu_seconds"]["value"])
    return figures | {"cpu_error_share": round(cpu, 3), "duplicates": guess["duplicates"]}


def _tokens(folder: Path) -> dict[str, int]:
    found, _, _ = _run(folder, "tokens", "--json")
    return {one["name"]: one["tokens"] for one in found["datasets"]}


def _run(folder: Path, *arguments: str) -> tuple[Any, float, float]:
    """Run a command; its JSON, the CPU seconds of its process (not of workers), and wall seconds."""
    kept = {key: value for key, value in os.environ.items() if key not in ("DAGSTER_HOME", "CORPUS_CONFIG")}
    started = time.monotonic()
    command = [str(Path(sys.executable).with_name("corpus")), *arguments]
    with subprocess.Popen(command, cwd=folder, env=kept, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}: {out}")
    return json.loads(out.splitlines()[-1]), usage.ru_utime + usage.ru_stime, time.monotonic() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller corpora and less time")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = measure(QUICK_MEGABYTES if given.quick else MEGABYTES, QUICK_SECONDS if given.quick else SECONDS)
    if given.json:
        print(json.dumps(figures))
        return
    for corpus, found in figures.items():
        print("\n".join(f"{corpus:12}{name:36}{value!s:>16}" for name, value in found.items()))


if __name__ == "__main__":
    main()
