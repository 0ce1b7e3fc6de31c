"""The memory that one long document takes in each stage: `python -m benchmarks.document_memory [--quick] [--json]`.

Bytes for each byte of the document, an ASCII text, by stage: the most that the process had while the stage worked on
it, less what it had before. A build over a shorter document, in the same process, has loaded libraries and kernels.
Stages that look at no text are left out. Linux only.
"""

import argparse
import ctypes
import gc
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from resources.engine.local import LocalEngine
from resources.errors import CorpusError
from resources.stage.jobs.job import Job, Outcome
from resources.stage.jobs.run_job import run_job

WARM_MB, MEGABYTES, QUICK_MEGABYTES = 9, 128, 24
"""Of the document that loads everything, which is a long one for the taggers too, and of the one that is measured."""

LEAST = 0.5
"""Bytes for a byte below which a stage does not look at the text."""

_BUILD = (
    "import json, pathlib, sys; from benchmarks.document_memory import build; "
    "print(json.dumps(build(pathlib.Path(sys.argv[1]), int(sys.argv[2]))))"
)
"""A program, since the engine finds this module by its name, which is not that of a script that runs."""

_PEAKS: dict[str, int] = {}
_SELF = Path("/proc/self")
_WORDS, _LETTERS = 30_000, "etaoinshrdlu"


def prose(size: int) -> str:
    """An ASCII text of so many bytes: random words, of which nearly no two follow each other twice."""
    chance = random.Random(size)
    words = ["".join(chance.choices(_LETTERS, k=chance.randint(2, 10))) for _ in range(_WORDS)]
    lines: list[str] = []
    while size > 0:
        lines.append(" ".join(chance.choices(words, k=15)) + ".")
        size -= len(lines[-1]) + 1
    return "\n".join(lines)


def write_corpus(folder: Path, megabytes: int) -> Path:
    """A corpus of one document, with taggers, a filter and datasets."""
    (folder / "raw").mkdir(parents=True)
    rows = [{"id": "long", "text": prose(megabytes * 1_000_000)}, {"id": "short", "text": prose(2000)}]
    (folder / "raw/texts.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    config = {
        "sources": [{"name": "texts", "location": "raw", "longest_row": "1 GiB"}],
        "storage": {"root": "corpus", "sync": False},
        "engine": {"kind": "benchmarks.document_memory:open_measured", "memory": "8 GiB"},
        "attributes": [
            {"name": tagger, "taggers": [tagger]} for tagger in ("gopher_v2", "c4_v2", "pii_regex_with_counts_fast_v2")
        ],
        "filter": {"rules": {"gopher_v2.gopher_v2.word_count": {"min": 1}}},
        "dedup": {"max_loss": 1},
        "mix": {"chunks": 1},
        "split": {"holdout": 0},
        "tokenizer": {"kind": "train", "vocabulary": 1000, "sample": "1 MiB"},
        "datasets": [{"name": "train", "shuffle": True}, {"name": "megatron", "format": "megatron"}],
    }
    path = folder / "corpus.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def open_measured(_: Mapping[str, Any]) -> LocalEngine:
    """What `engine.kind` names in these corpora: this process alone."""
    return LocalEngine(0, measured_job)


def measured_job(job: Job) -> Outcome:
    """Runs a job, and notes the memory that it took at most."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # What earlier jobs have given back is not memory of this one.
    (_SELF / "clear_refs").write_text("5")  # From here on, VmHWM is a new peak.
    before = _status("VmRSS")
    outcome = run_job(job)
    _PEAKS[job.stage.name] = max(_PEAKS.get(job.stage.name, 0), _status("VmHWM") - before)
    return outcome


def _status(name: str) -> int:
    return int((_SELF / "status").read_text().partition(f"{name}:")[2].split()[0]) << 10


def build(folder: Path, megabytes: int) -> dict[str, float]:
    """Builds the corpus in a folder after one with a shorter document; returns the figures by stage."""
    for name, size in (("warm", WARM_MB), ("measured", megabytes)):
        _PEAKS.clear()
        corpus = Corpus.open(write_corpus(folder / name, size))
        for stage in corpus.graph:
            step = Step(corpus, stage)
            step.run()
            if failures := step.failures():
                raise CorpusError("\n".join(failures))
    found = {stage.name: _PEAKS.get(stage.name, 0) / megabytes / 1e6 for stage in corpus.graph}
    return {name: round(value, 1) for name, value in found.items() if value >= LEAST}


def figures(quick: bool) -> dict[str, float]:
    """The figures, measured in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        size = QUICK_MEGABYTES if quick else MEGABYTES
        command = [sys.executable, "-c", _BUILD, folder, str(size)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a shorter document")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    found = figures(given.quick)
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:48}{value:>8.1f}")


if __name__ == "__main__":
    main()
