"""This project: raw to `duplicates` with its defaults, in one process."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import yaml

from benchmarks.peers.exchange import Result, serve
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from resources.errors import CorpusError
from resources.formats.attributes import DUPLICATE, AttributeRow, attribute_rows


def run(raw: Path, work: Path) -> Result:
    """Clusters of document ids, which the corpus must hold once each."""
    names = sorted(folder.name for folder in (raw / "documents").iterdir())
    config = {
        "sources": [{"name": name, "location": str(raw / "documents" / name)} for name in names],
        "storage": {"root": "corpus", "sync": False},
        "engine": {"workers": 0, "memory": "1 GiB"},
    }
    file = work / "corpus.yaml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    build(Corpus.open(file))
    return read_clusters(work / "corpus" / "attributes" / "duplicates")


def build(corpus: Corpus) -> None:
    """Everything up to the duplicates of each shard, stage by stage."""
    for stage in corpus.graph.select(["+duplicates"]):
        step = Step(corpus, stage)
        step.run()
        if failures := step.failures():
            raise CorpusError("\n".join(failures))


def read_clusters(folder: Path) -> list[list[str]]:
    """Clusters of document ids, from the attribute files, which name the kept document of each duplicate."""
    clusters: dict[str, list[str]] = {}
    for row in _duplicates(folder):
        kept = str((row.kept or {})["id"])
        clusters.setdefault(kept, [kept]).append(row.id)
    return list(clusters.values())


def _duplicates(folder: Path) -> Iterator[AttributeRow]:
    for file in sorted(folder.rglob("*.jsonl.gz")):
        with gzip.open(file) as lines:
            yield from (row for row in attribute_rows(lines) if DUPLICATE in row.attributes)


if __name__ == "__main__":
    serve(run)
