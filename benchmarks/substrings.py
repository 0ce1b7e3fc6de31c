"""Exact repeated substrings of real code, beside a suffix array: `python -m benchmarks.substrings [--quick] [--json]`.

The texts are the Python files of the packages that lie beside this interpreter. `own` are the stages of an entry with
`kind: substrings` from normalized documents to attributes, reading included, with one worker, 1 GiB of memory and
kernels compiled before: CPU seconds of their records, and the largest resident set of the process. `growth` is how many
times as much CPU time they take for all of the texts as for a third, over how many times as many these are. `suffix
array` is pydivsufsort over all bytes at once, in an environment of its own, from the same normalized documents to
spans: all of its process. `equal` says whether both found the same spans.
"""

import gzip
import json
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.dedupers import run_stage
from benchmarks.peers.environment import python_of
from benchmarks.peers.process import AbsentError, run
from benchmarks.printed import printed
from corpus_assets.attributes.substrings.units import in_code_points
from corpus_assets.corpus.corpus import Corpus
from resources.formats.attributes import attribute_rows
from resources.stage.partition import Partition

MEGABYTES, QUICK_MEGABYTES, SMALLER = 60, 3, 3
LENGTH = 500
REQUIREMENTS = ("pydivsufsort==0.0.20", "numpy")
STAGES = ("passages", "repeated_passages", "windows", "repeated_windows", "attributes")
SECONDS = 3600.0
_SHARD_BYTES = 8_000_000
_PEER = Path(__file__).parent / "peers" / "suffix_array.py"


def texts() -> Iterator[str]:
    """The Python files of the packages beside this interpreter, in the order of their paths."""
    for file in sorted(Path(sysconfig.get_paths()["purelib"]).rglob("*.py")):
        text = file.read_bytes().decode("utf-8", "replace")
        if text.strip():
            yield text


def write(folder: Path, megabytes: float) -> Path:
    """A corpus.yaml over so much text, or all that there is."""
    (folder / "raw").mkdir(parents=True)
    held, shard, total = [], 0, 0
    for number, text in enumerate(texts()):
        held.append(json.dumps({"id": str(number), "text": text}) + "\n")
        total += len(text)
        if sum(map(len, held)) > _SHARD_BYTES or total > megabytes * 1e6:
            path = folder / "raw" / f"part-{shard:04}.jsonl.gz"
            path.write_bytes(gzip.compress("".join(held).encode(), 1))
            held, shard = [], shard + 1
        if total > megabytes * 1e6:
            break
    values = {
        "sources": [{"name": "code", "location": "raw"}],
        "dedupers": [{"kind": "substrings", "min_length": f"{LENGTH} bytes"}],
        "storage": {"root": "corpus", "sync": False},
        "engine": {"workers": 0, "memory": "1 GiB"},
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(values))
    return folder / "corpus.yaml"


def own(file: Path) -> dict[str, float]:
    """CPU seconds of each stage, and the bytes of all texts."""
    corpus = Corpus.open(file)
    costs = {stage.name: run_stage(corpus, stage.name) for stage in corpus.graph.select(["+substrings_attributes"])}
    seconds = {name: costs[f"substrings_{name}"]["cpu_seconds"] for name in STAGES}
    return {**seconds, "text_mb": costs["normalized_documents"]["text_bytes"] / 1e6}


def apart(file: Path) -> tuple[dict[str, float], float]:
    """The same in a process of its own, and the largest resident set of that in MB."""
    log = file.with_suffix(".log")
    cost = run(
        [sys.executable, "-m", "benchmarks.substrings", "--own", str(file)], folder=Path.cwd(), log=log, limit=SECONDS
    )
    found: dict[str, float] = json.loads(log.read_text().splitlines()[-1])
    return found, cost.peak_rss_mb


def _partitions(corpus: Corpus, asset: str) -> list[Partition]:
    records = corpus.ledger.records(asset)
    return [Partition(corpus.storage, records[key]) for key in sorted(records, key=str)]


def _is_equal(file: Path, found: Path) -> bool:
    """Whether a suffix array found the spans that our attributes have."""
    corpus, spans = Corpus.open(file), np.load(found, allow_pickle=False)
    number = 0
    for shard, texts_of in zip(
        _partitions(corpus, "substrings_attributes"), _partitions(corpus, "normalized_documents"), strict=True
    ):
        for row, document in zip(attribute_rows(shard.lines()), texts_of.documents(), strict=True):
            first, last = np.searchsorted(spans[:, 0], [number, number + 1])
            raw = document.text.encode("utf-8", "surrogatepass")
            wanted = in_code_points(raw, spans[first:last, 1:], "bytes", whole_words=False).tolist()
            marked = row.attributes.get("substrings__substrings__duplicate", [])
            if [[start, end] for start, end, _ in marked] != wanted:
                return False
            number += 1
    return number > 0


def measure(quick: bool) -> dict[str, Any]:
    """The figures; those of a suffix array are None where it cannot be installed."""
    megabytes = QUICK_MEGABYTES if quick else MEGABYTES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        apart(write(folder / "warm", 1))
        smaller, _ = apart(write(folder / "smaller", megabytes / SMALLER))
        file = write(folder / "all", megabytes)
        ours, peak = apart(file)
        seconds, less = (sum(one[stage] for stage in STAGES) for one in (ours, smaller))
        figures: dict[str, Any] = {"text_mb": ours["text_mb"]}
        figures |= {f"own_{stage}_cpu_s": ours[stage] for stage in STAGES}
        figures |= {"own_mb_per_cpu_s": ours["text_mb"] / seconds, "own_peak_rss_mb": peak}
        figures["own_growth"] = seconds / less / (ours["text_mb"] / smaller["text_mb"])
        figures |= _of_suffix_array(folder, file, ours["text_mb"])
    return {name: round(value, 2) if isinstance(value, float) else value for name, value in figures.items()}


def _of_suffix_array(folder: Path, file: Path, megabytes: float) -> dict[str, Any]:
    try:
        python = python_of(folder / "environment", REQUIREMENTS)
    except AbsentError as fault:
        print(f"no suffix array: {fault}", file=sys.stderr)
        return dict.fromkeys(("suffix_array_mb_per_cpu_s", "suffix_array_peak_rss_mb", "equal"))
    corpus = Corpus.open(file)
    records = (one.record for one in _partitions(corpus, "normalized_documents"))
    paths = [str(file.parent / "corpus" / found.path) for one in records for found in one.files[:1]]
    spans, log = folder / "spans.npy", folder / "peer.log"
    cost = run([str(python), str(_PEER), str(LENGTH), str(spans), *paths], folder=folder, log=log, limit=SECONDS)
    return {
        "suffix_array_mb_per_cpu_s": megabytes / cost.cpu_seconds,
        "suffix_array_peak_rss_mb": cost.peak_rss_mb,
        "equal": "yes" if _is_equal(file, spans) else "no",
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["--own"]:
        print(json.dumps(own(Path(sys.argv[2]))))
    else:
        printed(__doc__, measure)
