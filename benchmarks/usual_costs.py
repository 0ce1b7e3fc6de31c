"""What stages usually cost, as `building/forecasting/usual_costs.py` holds it: `python -m benchmarks.usual_costs`.

CPU nanoseconds per byte of the corpus' text, by the function that computes a stage, without a fixed share of each
partition; from the records of a build with stages of all kinds of texts, and of one with `dedup.rule: either` and
`dedup.template_share`, which has the stages of near-duplicates that the first one lacks. Kernels are compiled before.
"""

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml

from benchmarks.corpora import write_raw
from benchmarks.printed import printed
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.forecasting.forecast import READ, function_of
from corpus_assets.orchestration.building.forecasting.usual_costs import PER_PARTITION
from tests.orchestration.silent import Silent

MEGABYTES, QUICK_MEGABYTES = 100, 30
OTHER_DEDUP = {"rule": "either", "template_share": 0.5, "max_loss": 1.0}
FORMATS = ("megatron", "olmo", "datatrove", "litdata", "mds", "parquet", "llmc", "ragged", "arrow")


def measure(quick: bool) -> dict[str, Any]:
    """Nanoseconds per byte by function."""
    with tempfile.TemporaryDirectory() as name:
        for megabytes in (2, QUICK_MEGABYTES if quick else MEGABYTES):  # The first one compiles kernels.
            folder = Path(name, str(megabytes))
            folder.mkdir()
            found = _measured(folder, megabytes)
    return found


def _measured(folder: Path, megabytes: int) -> dict[str, Any]:
    sources, _ = write_raw(folder / "raw", megabytes)
    trained = {"kind": "train", "vocabulary": 8192, "sample": "2 MiB"}
    exports = [{"name": name, "format": name, "input": "decontaminated_train"} for name in FORMATS]
    values = {
        "name": "costs",
        "sources": sources,
        "attributes": [{"name": "quality", "taggers": ["gopher_v2", "c4_v1"]}],
        "filter": {"rules": {"quality.gopher_v2.word_count": {"min": 5}}},
        "dedupers": [
            {"name": "paragraphs", "by": "paragraphs"},
            {"name": "copies", "by": "text"},
            {"kind": "substrings"},
        ],
        "tokenizer": trained,
        "datasets": [
            {"name": "train", "input": "decontaminated_train"},
            {"name": "vsl", "input": "decontaminated_train", "mode": "lm_vsl"},
            {"name": "texts", "input": "decontaminated_train", "format": "text"},
            *exports,
        ],
        "streams": [{"name": "stream"}],
        "storage": {"root": "all", "sync": False},
        "engine": {"workers": 0, "memory": "1 GiB"},
    }
    other = {"name": "costs", "sources": sources, "dedup": OTHER_DEDUP, "engine": values["engine"]}
    return _costs(folder, {**other, "storage": {"root": "other", "sync": False}}) | _costs(folder, values)


def _costs(folder: Path, values: dict[str, Any]) -> dict[str, Any]:
    (folder / "corpus.yaml").write_text(yaml.safe_dump(values))
    corpus = Corpus.open(folder / "corpus.yaml")
    report = build(corpus, list(corpus.graph), Silent(), checks=False)
    assert report.ok, report.failed
    planner = corpus.planner()
    text = sum(record.statistics["text_bytes"] for record in planner.records(READ).values())
    found: dict[str, list[float]] = defaultdict(list)
    for stage in corpus.graph:
        numbers = [record.statistics for record in planner.records(stage.name).values()]
        spent = sum(one["cpu_seconds"] - one.get("compile_seconds", 0.0) for one in numbers)
        found[function_of(stage)].append(max(0.0, spent - PER_PARTITION * len(numbers)) / text * 1e9)
    return {name: round(sum(costs) / len(costs), 2) for name, costs in found.items()}


if __name__ == "__main__":
    printed(__doc__, measure)
