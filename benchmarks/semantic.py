"""Documents that mean the same, beside semhash: `python -m benchmarks.semantic [--quick] [--json]`.

The texts are docstrings and other short documents of the packages beside this interpreter. Both use the vectors that
wordllama's wheel brings. `own` are the stages of an entry with `kind: semantic` from normalized documents to
attributes, reading included, one worker: documents per CPU-second of their records, over all documents and as a slope
(`own slope`: what the other two thirds take beyond the first third). `semhash` is the whole process, from the same
files to ids, in an environment of its own, and its slope over the same two sizes.

`removed` is the share of all documents. `agreement` is the number of documents that both remove over that of those that
either does. `kept pairs` counts pairs of kept documents at or above the threshold, by exact cosines of all pairs, and
`unlike` the removed documents whose nearest kept one is below it. `clustered` is the share of our removed documents
that are found in clusters (one for every 4,096 documents) too.
"""

import gzip
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from benchmarks.dedupers import run_stage
from benchmarks.peers.environment import python_of
from benchmarks.peers.process import AbsentError, run
from benchmarks.printed import printed
from corpus_assets.attributes.semantic.integers import cosines
from corpus_assets.attributes.semantic.vectors import ROW
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.raw.sample import sources as sample_sources
from corpus_assets.raw.sample.installed import installation
from resources.formats.attributes import attribute_rows
from resources.stage.partition import Partition

DOCUMENTS, QUICK_DOCUMENTS = 16_000, 1_500
"""So many that all are compared with each other."""

THRESHOLD = 0.9
SHORTEST = 40
"""Characters of the shortest document."""

REQUIREMENTS = ("semhash==0.5.0", "model2vec==0.10.0", "wordllama==0.4.0.post1", "safetensors", "numpy")
ASSETS = ("vectors", "centers", "members", "alike", "attributes")
SECONDS = 3600.0
_SHARDS = 4
_ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1") | {
    "TOKENIZERS_PARALLELISM": "false"
}
_PEER = Path(__file__).parent / "peers" / "meanings.py"
_CACHE = Path(__file__).resolve().parents[1] / ".peers"


def write(folder: Path, count: int, model: Path, **entry: Any) -> Path:
    """A corpus.yaml over so many documents. entry: further keys."""
    (folder / "raw").mkdir(parents=True)
    held = []
    long_enough = (row for row in sample_sources.docstrings(installation()) if len(row.text) >= SHORTEST)
    for number, row in enumerate(islice(long_enough, count)):
        held.append(json.dumps({"id": f"{number:06}", "text": row.text}) + "\n")
    for shard in range(_SHARDS):
        part = held[shard * len(held) // _SHARDS : (shard + 1) * len(held) // _SHARDS]
        (folder / "raw" / f"part-{shard}.jsonl.gz").write_bytes(gzip.compress("".join(part).encode(), 1, mtime=0))
    values = {
        "sources": [{"name": "docstrings", "location": "raw"}],
        "dedupers": [{"kind": "semantic", "model": str(model), "threshold": THRESHOLD, **entry}],
        "storage": {"root": "corpus", "sync": False},
        "engine": {"workers": 0, "memory": "1 GiB"},
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(values))
    return folder / "corpus.yaml"


def own(file: Path) -> dict[str, float]:
    """CPU seconds of each stage."""
    corpus = Corpus.open(file)
    wanted = corpus.graph.select(["+semantic_attributes"])
    costs = {stage.name: run_stage(corpus, stage.name) for stage in wanted}
    return {name: costs[f"semantic_{name}"]["cpu_seconds"] for name in ASSETS}


def _apart(file: Path) -> tuple[dict[str, float], float]:
    log = file.with_suffix(".log")
    command = [sys.executable, "-m", "benchmarks.semantic", "--own", str(file)]
    cost = run(command, folder=Path.cwd(), log=log, limit=SECONDS, extra=_ONE_CORE)
    found: dict[str, float] = json.loads(log.read_text().splitlines()[-1])
    return found, cost.peak_rss_mb


def _partitions(file: Path, asset: str) -> list[Partition]:
    corpus = Corpus.open(file)
    records = corpus.ledger.records(asset)
    return [Partition(corpus.storage, records[key]) for key in sorted(records, key=str)]


def _removed(file: Path) -> set[str]:
    rows = (row for one in _partitions(file, "semantic_attributes") for row in attribute_rows(one.lines()))
    return {row.id for row in rows if row.attributes}


def _vectors(file: Path) -> tuple[NDArray[np.int16], list[str]]:
    """The vectors of all documents that have one, and their ids."""
    found, ids = [], []
    documents = _partitions(file, "normalized_documents")
    for one, texts in zip(_partitions(file, "semantic_vectors"), documents, strict=True):
        rows = np.array(one.array(".rows.npy"), dtype=ROW)["row"]
        names = [document.id for document in texts.documents()]
        found.append(np.array(one.array(".vectors.npy")))
        ids += [names[row] for row in rows.tolist()]
    return np.concatenate(found), ids


def _faults(file: Path, removed: set[str]) -> tuple[int, int]:
    """Pairs of kept documents that are similar, and removed ones that no kept one resembles."""
    vectors, ids = _vectors(file)
    gone = np.array([name in removed for name in ids])
    kept, pairs, unlike = vectors[~gone], 0, 0
    for start in range(0, len(kept), 1024):
        near = cosines(kept[start : start + 1024], kept) >= THRESHOLD
        pairs += int(np.triu(near, start + 1).sum())
    for start in range(0, int(gone.sum()), 1024):
        nearest = cosines(vectors[gone][start : start + 1024], kept).max(axis=1)
        unlike += int((nearest < THRESHOLD).sum())
    return pairs, unlike


def measure(quick: bool) -> dict[str, Any]:
    """The figures; those of semhash are None where it cannot be installed, and so are all without its vectors."""
    count = QUICK_DOCUMENTS if quick else DOCUMENTS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            python = python_of(_CACHE / "semhash", REQUIREMENTS)
        except AbsentError as fault:
            print(f"no semhash, and no vectors: {fault}", file=sys.stderr)
            return {"own_documents_per_cpu_s": None}
        model = _model(python, folder / "model")
        _apart(write(folder / "warm", 200, model))
        smaller, file = write(folder / "smaller", count // 3, model), write(folder / "all", count, model)
        (less, _), (ours, peak) = _apart(smaller), _apart(file)
        removed = _removed(file)
        seconds, before = (sum(one.values()) for one in (ours, less))
        figures: dict[str, Any] = {"documents": count}
        figures |= {f"own_{asset}_cpu_s": ours[asset] for asset in ASSETS}
        figures["own_documents_per_cpu_s"] = count / seconds
        figures["own_slope_documents_per_cpu_s"] = (count - count // 3) / max(seconds - before, 0.01)
        figures["own_peak_rss_mb"] = peak
        figures |= _agreeing(folder, python, (smaller, file), removed, count)
        clustered = write(folder / "clustered", count, model, clusters=max(2, count // 4096))
        _apart(clustered)
        figures["clustered_share"] = len(_removed(clustered) & removed) / max(1, len(removed))
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in figures.items()}


def _model(python: Path, target: Path) -> Path:
    """The files of the wheel in a folder of their own."""
    target.mkdir()
    package = next(python.parents[1].glob("lib/python*/site-packages/wordllama"))
    shutil.copy(package / "weights" / "l2_supercat_256.safetensors", target / "model.safetensors")
    shutil.copy(package / "tokenizers" / "l2_supercat_tokenizer_config.json", target / "tokenizer.json")
    return target


def _agreeing(folder: Path, python: Path, files: Sequence[Path], removed: set[str], count: int) -> dict[str, Any]:
    found = {"own_removed_share": len(removed) / count}
    found["own_kept_pairs"], found["own_unlike"] = _faults(files[1], removed)
    costs = []
    for file in files:
        out, log = folder / "removed.json", folder / "peer.log"
        paths = [str(path) for path in sorted((file.parent / "raw").iterdir())]
        command = [str(python), str(_PEER), str(THRESHOLD), str(out), *paths]
        costs.append(run(command, folder=folder, log=log, limit=SECONDS, extra=_ONE_CORE))
    theirs = set(json.loads(out.read_text()))
    found["semhash_documents_per_cpu_s"] = count / costs[1].cpu_seconds
    more = max(costs[1].cpu_seconds - costs[0].cpu_seconds, 0.01)
    found["semhash_slope_documents_per_cpu_s"] = (count - count // 3) / more
    found["semhash_peak_rss_mb"] = costs[1].peak_rss_mb
    found["semhash_removed_share"] = len(theirs) / count
    found["semhash_kept_pairs"], found["semhash_unlike"] = _faults(files[1], theirs)
    found["agreement"] = len(removed & theirs) / max(1, len(removed | theirs))
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["--own"]:
        print(json.dumps(own(Path(sys.argv[2]))))
    else:
        printed(__doc__, measure)
