"""What holds for every format: the ids of the stream come back, with any number of workers, of any corpus."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.config.datasets.exports import EXPORTS
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.amber.check import Rule
from corpus_assets.export.amber.partition_check import window_faults
from corpus_assets.export.checks import upstream_of
from corpus_assets.export.datasets import exported_datasets
from corpus_assets.export.file_faults import count_faults, faults_of, manifest_faults
from tests.build.small import contents, prose, write_raw, write_small
from tests.export.exported import exported, manifest_of, partitions

FORMATS = sorted(EXPORTS)
SMALL: dict[str, dict[str, Any]] = {
    "amber": {"window": 33, "chunks": 2},
    "arrow": {"sequence_length": 32},
    "litdata": {"sequence_length": 33},
    "mds": {"sequence_length": 32},
    "parquet": {"sequence_length": 32},
}
"""Options by which the small corpus fills several units of formats that cut windows."""


def dataset(name: str, **options: Any) -> dict[str, Any]:
    """A dataset in a format, named like it."""
    return {"name": name, "format": name, **SMALL.get(name, {}), **options}


def faults(corpus: Corpus) -> list[str]:
    """What the checks of all datasets find."""
    found: list[str] = []
    for one in exported_datasets(corpus.settings.values["datasets"]):
        given = upstream_of(corpus, one)
        assert given is not None
        made, (manifest,) = partitions(corpus, f"{one.name}_tokens"), partitions(corpus, f"{one.name}_manifest")
        look = partial(faults_of, given=given)
        if one.format.locate is not None:  # Its lines lie in another order; tests of Amber compare them one by one.
            found += count_faults(made)
            rule = Rule(one.values["window"], given.build().tokenizer.vocab_size, with_source=True)
            look = partial(window_faults, storage=corpus.storage, rule=rule)
        found += [fault for partition in made for fault in look(partition.record)]
        found += manifest_faults(made, manifest)
    return found


def test_all_formats_hold_the_ids_of_one_stream(tmp_path: Path) -> None:
    corpus = exported(tmp_path, *map(dataset, FORMATS))
    assert faults(corpus) == []
    streams = [stage.name for stage in corpus.graph if stage.name.endswith("_token_stream")]
    assert streams == ["decontaminated_train_token_stream"]
    (tokenizer,) = {manifest_of(corpus, name)["tokenizer"]["digest"] for name in FORMATS}
    assert tokenizer


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing(tmp_path: Path) -> None:
    found = []
    for workers in (1, 2, 4):
        corpus = exported(tmp_path / str(workers), *map(dataset, FORMATS), **{"engine.workers": workers})
        found.append(contents(corpus))
    assert all(any(path.startswith(f"exports/{name}") for path in found[0]) for name in FORMATS)
    assert found[0] == found[1] == found[2]


def written(folder: Path, texts: list[str], *datasets: dict[str, Any]) -> Corpus:
    """Datasets of one file of their own with these texts."""
    write_small(folder)
    write_raw(folder, "own/a.jsonl", [{"id": str(number), "text": text} for number, text in enumerate(texts)])
    return exported(folder, *({**one, "input": {"location": "raw/own", "may_be_empty": True}} for one in datasets))


def test_a_source_of_one_document(tmp_path: Path) -> None:
    corpus = written(tmp_path, [prose("alone", words=200)], *map(dataset, FORMATS))
    assert faults(corpus) == []
    assert {name: manifest_of(corpus, name)["documents"] for name in FORMATS} == dict.fromkeys(FORMATS, 1)


def test_a_file_without_a_document(tmp_path: Path) -> None:
    corpus = written(tmp_path, [], *map(dataset, FORMATS))
    assert faults(corpus) == []
    assert {name: manifest_of(corpus, name).get("ids", 0) for name in FORMATS} == dict.fromkeys(FORMATS, 0)


def test_a_split_without_a_document(tmp_path: Path) -> None:
    write_small(tmp_path)
    corpus = exported(tmp_path, *(dataset(name, input="validation") for name in FORMATS), **{"split.holdout": 0.0})
    assert faults(corpus) == []
    assert {name: manifest_of(corpus, name).get("ids", 0) for name in FORMATS} == dict.fromkeys(FORMATS, 0)
