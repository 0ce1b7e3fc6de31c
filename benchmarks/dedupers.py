"""Dedupers in MB of text per CPU-second on one core: `python -m benchmarks.dedupers [--quick] [--json]`.

The stages themselves, from normalized documents to attributes, over all shards of a corpus one after the other, with
kernels compiled before. CPU seconds are those in the commit records.

Keys of an entry: `_hashes_`, `_seen_`, `_attributes_mb_per_cpu_s` for its three assets, and `_mb_per_cpu_s` for all of
it; `_million_hashes`: how many were compared.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import yaml

from benchmarks.corpora import write_corpus
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from resources.errors import CorpusError

MEGABYTES, QUICK_MEGABYTES = 64, 8
WARM_MEGABYTES = 1
ENTRIES: list[dict[str, Any]] = [
    {"name": "text", "by": "text"},
    {"name": "paragraphs", "by": "paragraphs"},
    {"name": "ngrams", "by": "ngrams", "ngram": {"length": 13}},
    {"name": "ngrams_bloom", "by": "ngrams", "ngram": {"length": 13}, "bloom": {"items": 20_000_000}},
]


def opened(folder: Path, megabytes: int) -> tuple[Corpus, str]:
    """A corpus of so much text with all entries, and what it is."""
    file, kind = write_corpus(folder, megabytes)
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    config |= {"dedupers": ENTRIES, "engine": {**config.get("engine", {}), "workers": 0}}
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    return Corpus.open(file), kind


def run_stage(corpus: Corpus, name: str) -> dict[str, float]:
    """Computes a stage in this process; returns its numbers, added up over all partitions."""
    step = Step(corpus, corpus.graph[name])
    step.run()
    if failures := step.failures():
        raise CorpusError("\n".join(failures))
    found = [record.statistics for record in step.records().values()]
    keys = ("cpu_seconds", "text_bytes", "hashes")
    return {key: sum(numbers.get(key, 0) for numbers in found) for key in keys}


def costs_of(corpus: Corpus) -> dict[str, dict[str, float]]:
    """The numbers of every stage up to the attributes of all entries."""
    wanted = corpus.graph.select([f"+{entry['name']}_attributes" for entry in ENTRIES])
    return {stage.name: run_stage(corpus, stage.name) for stage in wanted}


def figures_of(costs: dict[str, dict[str, float]]) -> dict[str, float]:
    """MB of text per CPU-second of each asset and of each entry."""
    megabytes = costs["normalized_documents"]["text_bytes"] / 1e6
    figures = {"text_mb": megabytes}
    for entry in ENTRIES:
        name = entry["name"]
        seconds = {asset: costs[f"{name}_{asset}"]["cpu_seconds"] for asset in ("hashes", "seen", "attributes")}
        figures[f"{name}_million_hashes"] = costs[f"{name}_hashes"]["hashes"] / 1e6
        figures |= {f"{name}_{asset}_mb_per_cpu_s": megabytes / max(cpu, 0.001) for asset, cpu in seconds.items()}
        figures[f"{name}_mb_per_cpu_s"] = megabytes / max(sum(seconds.values()), 0.001)
    return figures


def measure(quick: bool) -> dict[str, Any]:
    """The figures, and the corpus that they are of."""
    with tempfile.TemporaryDirectory() as folder:
        warm, _ = opened(Path(folder) / "warm", WARM_MEGABYTES)
        costs_of(warm)
        corpus, kind = opened(Path(folder) / "measured", QUICK_MEGABYTES if quick else MEGABYTES)
        return {"corpus": kind, **{name: round(value, 2) for name, value in figures_of(costs_of(corpus)).items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less text")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = measure(given.quick)
    if given.json:
        print(json.dumps(figures))
    else:
        print(f"{figures.pop('corpus')}, MB of text per CPU-second")
        print("\n".join(f"{name:44}{value:>10,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
