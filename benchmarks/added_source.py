"""`corpus estimate --add` compared with the build that follows: `python -m benchmarks.added_source [--quick] [--json]`.

Each case is a corpus without one of its sources, which is built; then the source is estimated, put into corpus.yaml and
built. Ratios of estimate to build: documents, those that are kept, partitions that are computed, and seconds of wall
time of the whole command. Corpora: the sample of `make demo`, and where they lie beside the checkout, generated text
with near-duplicates and the labelled texts of the shared data. Kernels are compiled before.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from benchmarks.corpora import GENERATOR, write_corpus
from benchmarks.dedup_pairs import LABELLED
from benchmarks.dedup_real import SOURCES
from benchmarks.printed import printed
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.raw.sample.writing import write_sample

ROOT = Path(__file__).resolve().parents[1]
MEGABYTES, QUICK_MEGABYTES = {"demo": 24, "generated": 96}, {"demo": 6, "generated": 12}
SECONDS, QUICK_SECONDS = 60, 15
_OF_THE_USER = ("DAGSTER_HOME", "CORPUS_CONFIG")


def measure(quick: bool) -> dict[str, Any]:
    """Figures of each case, and the largest error of the time."""
    figures: dict[str, Any] = {}
    seconds = QUICK_SECONDS if quick else SECONDS
    with tempfile.TemporaryDirectory() as name:
        for case, folder, source in _cases(Path(name), QUICK_MEGABYTES if quick else MEGABYTES):
            figures |= {f"{case}_{key}": value for key, value in _compared(folder, source, seconds).items()}
            shutil.rmtree(folder)
    off = [abs(value - 1) for key, value in figures.items() if key.endswith("_seconds_ratio")]
    return figures | {"most_off": round(max(off), 3)}


def _cases(top: Path, sizes: dict[str, int]) -> Iterator[tuple[str, Path, str]]:
    """Each case: its name, the folder of a corpus, and the source that is added later."""
    for source in ("packages", "docstrings", "native"):
        yield f"demo_{source}", _demo(top / f"demo-{source}", sizes["demo"]), source
    if GENERATOR.is_file():
        for place in (0, -1):
            folder = top / f"generated{place}"
            folder.mkdir()
            path, _ = write_corpus(folder, sizes["generated"])
            values = yaml.safe_load(path.read_text())
            path.write_text(yaml.safe_dump(values | {"engine": {"workers": 2, "memory": "2 GiB"}}))
            source = values["sources"][place]["name"]
            yield f"generated_{source}", folder, source
    if LABELLED.is_dir():
        for name in ("versions", "code", "web"):
            yield f"labelled_{name}", _labelled(top / f"labelled-{name}"), name


def _demo(folder: Path, megabytes: int) -> Path:
    folder.mkdir()
    for file in ("corpus.yaml", "dagster.yaml"):
        shutil.copy(ROOT / file, folder / file)
    write_sample(folder / "data" / "raw", megabytes=megabytes)
    return folder


def _labelled(folder: Path) -> Path:
    folder.mkdir()
    values = {
        "name": "labelled",
        "sources": [{**source, "location": str(LABELLED)} for source in SOURCES],
        "attributes": [{"name": "quality", "taggers": ["gopher_v2", "c4_v1"]}],
        "datasets": [{"name": "train", "input": "decontaminated_train", "format": "megatron"}],
        "storage": {"sync": False},
        "engine": {"workers": 2, "memory": "2 GiB"},
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(values))
    return folder


def _compared(folder: Path, name: str, seconds: float) -> dict[str, Any]:
    file = folder / "corpus.yaml"
    values = yaml.safe_load(file.read_text())
    values.pop("card", None)  # It names sources.
    (left_out,) = [source for source in values["sources"] if source["name"] == name]
    others = [source for source in values["sources"] if source["name"] != name]
    file.write_text(yaml.safe_dump(values | {"sources": others}))
    _run(folder, "build", "--json")
    location = left_out.pop("location")
    options = [f"--set=sources.{name}.{key}={json.dumps(value)}" for key, value in left_out.items() if key != "name"]
    guess, _ = _run(folder, "estimate", f"--add={name}={folder / location}", *options, "--json", f"--seconds={seconds}")
    added = {**left_out, "location": location}
    file.write_text(yaml.safe_dump(values | {"sources": [*others, added]}))
    built, wall = _run(folder, "build", "--json")
    documents, kept = _documents(folder, name)
    real = {"documents": documents, "kept": kept, "partitions": built["recomputed"], "seconds": round(wall, 2)}
    guessed = {
        "documents": guess["documents"],
        "kept": guess["kept"],
        "partitions": sum(one["new"] + one["again"] + one["likely"] for one in guess["stages"]),
        "seconds": guess["seconds"],
    }
    found: dict[str, Any] = {"share": guess["share"], "lasted_s": guess["lasted"]}
    found |= {f"copies_{kind}": guess["copies"][kind] for kind in ("equal", "near", "of_each_other")}
    for key, value in real.items():
        found |= {key: value, f"{key}_ratio": round(guessed[key] / value, 3) if value else None}
    return found


def _documents(folder: Path, name: str) -> tuple[int, int]:
    """The documents of a source, and how many are used."""
    corpus = Corpus.open(folder / "corpus.yaml", read_only=True)
    planner = corpus.planner()

    def total(asset: str, count: str) -> int:
        records = planner.records(asset).items()
        found = [one.statistics for key, one in records if (shard := planner.shard(key)) and shard.source == name]
        return sum(one[count] if count != "dropped" else sum(one["dropped"].values()) for one in found)

    first = "filtered_documents" if "filtered_documents" in corpus.graph.stages else "normalized_documents"
    return total("normalized_documents", "rows_in"), total(first, "rows_out") - total("mixed_pass1", "dropped")


def _run(folder: Path, *arguments: str) -> tuple[Any, float]:
    """The JSON of a command, and its seconds."""
    kept = {key: value for key, value in os.environ.items() if key not in _OF_THE_USER}
    started = time.monotonic()
    command = [str(Path(sys.executable).with_name("corpus")), *arguments]
    done = subprocess.run(command, check=False, cwd=folder, env=kept, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {done.returncode}: {done.stdout}")
    return json.loads(done.stdout.splitlines()[-1]), time.monotonic() - started


if __name__ == "__main__":
    printed(__doc__, measure)
