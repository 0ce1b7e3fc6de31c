"""Builds a corpus stage by stage, without Dagster, and looks at what came out."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from corpus_assets.config.datasets.options import DatasetSection
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from resources.formats.documents import Document
from resources.formats.hdf5.reader import read_hdf5
from resources.ledger.ledger import Record
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions

SMALL: dict[str, Any] = {
    "tokenizer": {"kind": "train", "vocabulary": 300, "sample": 20_000},
    "datasets": [{"name": "train", "sequence_length": 64}, {"name": "test", "input": "test", "sequence_length": 64}],
    "engine": {"workers": 0},
    "storage": {"root": "corpus", "sync": False},
}


def open_corpus(folder: Path, values: Mapping[str, Any]) -> Corpus:
    """A corpus in `folder`, small and in this process unless `values` say otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "corpus.yaml"
    file.write_text(yaml.safe_dump({**SMALL, **values}, sort_keys=False), encoding="utf-8")
    return Corpus.open(file)


def build(corpus: Corpus, stages: Iterable[str] | None = None) -> Counter[str]:
    """Build the stages (all by default) in order; partitions computed, by asset. No failure is let pass."""
    done: Counter[str] = Counter()
    for stage in corpus.graph if stages is None else corpus.graph.select(list(stages)):
        step = Step(corpus, stage)
        done[stage.name] = len(step.run())
        failures = step.failures()
        assert failures == [], "\n".join(failures)
    corpus.engine.close()
    return +done


def records(corpus: Corpus, asset: str) -> list[Record]:
    """Commit records of an asset's current partitions, in canonical order."""
    found = corpus.ledger.records(asset)
    return [found[key] for key in corpus.planner().partitions(corpus.graph[asset])]


def partitions(corpus: Corpus, asset: str) -> Partitions:
    """An asset's current partitions, in canonical order."""
    return Partitions(Partition(corpus.storage, record) for record in records(corpus, asset))


def documents(corpus: Corpus, asset: str) -> Iterator[Document]:
    """All documents of an asset."""
    for partition in partitions(corpus, asset):
        yield from partition.documents()


def rows_of(corpus: Corpus, asset: str, number: str = "rows_out") -> int:
    """A number of an asset's records, summed."""
    return sum(record.statistics[number] for record in records(corpus, asset))


def dropped(corpus: Corpus, asset: str) -> Counter[str]:
    """Rows an asset dropped, by reason."""
    found: Counter[str] = Counter()
    for record in records(corpus, asset):
        found.update(record.statistics.get("dropped", {}))
    return +found


def assert_conserved(corpus: Corpus) -> None:
    """Every row that comes in goes out or is counted as dropped, from raw to the splits."""
    read, once, clean = "normalized_documents", "mixed_pass1", "decontaminated_train"
    kept = rows_of(corpus, once, "documents")
    mixed, held = rows_of(corpus, "mixed_pass2"), rows_of(corpus, "holdout")
    repeats = dropped(corpus, "holdout")["repeat_of_held_out"]
    assert rows_of(corpus, read, "rows_in") == rows_of(corpus, read) + dropped(corpus, read).total()
    assert rows_of(corpus, read) == kept + dropped(corpus, once).total()
    assert mixed == kept + rows_of(corpus, once, "repeats") == rows_of(corpus, once)
    assert mixed == rows_of(corpus, "train") + held + repeats
    assert held == rows_of(corpus, "validation") + rows_of(corpus, "test")
    assert rows_of(corpus, "train") == rows_of(corpus, clean) + dropped(corpus, clean).total()
    for asset in (read, "mixed_pass2", "train", "holdout", "validation", "test", clean):
        assert sum(1 for _ in documents(corpus, asset)) == rows_of(corpus, asset)


def token_rows(corpus: Corpus, dataset: str) -> int:
    """Rows of a dataset's token files, each of which is what its record says."""
    entry = next(entry for entry in corpus.config.datasets if entry.name == dataset)
    assert isinstance(entry, DatasetSection)
    length = entry.sequence_length
    total = 0
    for partition in partitions(corpus, f"{dataset}_tokens"):
        if not partition.has(".h5"):
            assert partition.record.statistics["rows_out"] == 0
            continue
        with partition.open(".h5") as file, read_hdf5(file) as rows:
            assert rows.n == rows.attributes["n_examples"] == partition.record.statistics["rows_out"]
            assert (len(rows.features), rows.sequence_length) == (3, length)
            assert rows.digest() == partition.file(".h5").digest
            for block in rows.blocks():
                assert block.dtype == np.int32
                assert block.min() >= 0
                assert block[:, (0, 2)].max() < rows.attributes["vocab_size"]
            total += rows.n
    return total


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """A `.jsonl` file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
