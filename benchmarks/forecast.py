"""The time left that a build shows, compared with the time that was left: `python -m benchmarks.forecast`.

Ratios of forecast to truth when 10, 25, 50, 75 and 90 % of a build's time are over: for the first build of a store, for
builds after two changes (`split.holdout`, and `short_documents.threshold`, after which much may turn out fresh), on a
generated corpus, and on the shared data with taggers, a filter and files for Megatron if these lie beside the checkout.
Where the forecast is a range, the ratio is that of its upper end, and `at_least` that of the other. Kernels are
compiled before. `*_s` are the seconds of a build.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from benchmarks.corpora import write_corpus
from benchmarks.dedup_pairs import LABELLED
from benchmarks.dedup_real import SOURCES
from benchmarks.printed import printed
from corpus_assets.orchestration.building.work import CLEAR

MEGABYTES, QUICK_MEGABYTES = 200, 24
MOMENTS = (10, 25, 50, 75, 90)
CHANGES = {"holdout": "split.holdout=0.05", "threshold": "short_documents.threshold=400"}
_OF_THE_USER = ("DAGSTER_HOME", "CORPUS_CONFIG")


def measure(quick: bool) -> dict[str, Any]:
    """Ratios of each corpus, build and moment."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        warm = Path(name, "warm")
        warm.mkdir()
        _generated(warm, 2)
        _build(warm)
        for corpus, write in {"generated": _generated, "real": _real}.items():
            if corpus == "real" and not LABELLED.is_dir():
                continue
            folder = Path(name, corpus)
            folder.mkdir()
            write(folder, QUICK_MEGABYTES if quick else MEGABYTES)
            figures |= _of(f"{corpus}_first", _build(folder))
            for change, given in CHANGES.items():
                figures |= _of(f"{corpus}_{change}", _build(folder, "--set", given))
    return figures


def _generated(folder: Path, megabytes: int) -> None:
    path, _ = write_corpus(folder, megabytes)
    values = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump(values | {"engine": {"workers": 2, "memory": "2 GiB"}}))


def _real(folder: Path, _: int) -> None:
    quality = {"name": "quality", "taggers": ["gopher_v2", "c4_v1"]}
    values = {
        "name": "forecast",
        "sources": [{**source, "location": str(LABELLED)} for source in SOURCES],
        "attributes": [quality],
        "filter": {"rules": {"quality.gopher_v2.word_count": {"min": 5}}},
        "datasets": [
            {"name": "train", "input": "decontaminated_train"},
            {"name": "megatron", "input": "decontaminated_train", "format": "megatron"},
        ],
        "storage": {"sync": False},
        "engine": {"workers": 2, "memory": "2 GiB"},
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(values))


def _build(folder: Path, *options: str) -> list[dict[str, Any]]:
    """Builds, and returns the events."""
    environment = {key: value for key, value in os.environ.items() if key not in _OF_THE_USER}
    command = [str(Path(sys.executable).with_name("corpus")), "build", "--events", *options]
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    events: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode:
        raise SystemExit(f"the build failed: {events[-1:]}")
    return events


def _of(name: str, events: list[dict[str, Any]]) -> dict[str, Any]:
    (begin,) = (_time(event) for event in events if event["kind"] == "begin")
    end = _time(events[-1])
    said = [(_time(event) - begin, event) for event in events if event["kind"] == "progress"]
    took = end - begin
    found: dict[str, Any] = {f"{name}_s": round(took, 1)}
    for moment in MOMENTS:
        before = [(when, event) for when, event in said if when <= took * moment / 100]
        found[f"{name}_at_{moment}"] = None
        for when, event in before[-1:]:
            most, least = event["seconds_left"], event["seconds_left_least"]
            found[f"{name}_at_{moment}"] = round(most / (took - when), 2)
            if least < CLEAR * most:
                found[f"{name}_at_{moment}_at_least"] = round(least / (took - when), 2)
    return found


def _time(event: dict[str, Any]) -> float:
    return datetime.fromisoformat(event["time"]).timestamp()


def section(figures: Mapping[str, Any]) -> str:
    """One row per build."""
    head = ["build", "seconds", *(f"at {moment} %" for moment in MOMENTS)]
    rows = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for key in (key for key in figures if key.endswith("_s")):
        name = key.removesuffix("_s")
        cells = [_cell(figures, f"{name}_at_{moment}") for moment in MOMENTS]
        rows.append(f"| {name.replace('_', ', ')} | {figures[key]} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _cell(figures: Mapping[str, Any], key: str) -> str:
    if figures[key] is None:
        return "–"
    least = figures.get(f"{key}_at_least")
    return f"{figures[key]:.2f}" if least is None else f"{least:.2f} to {figures[key]:.2f}"


if __name__ == "__main__":
    printed(__doc__, measure)
