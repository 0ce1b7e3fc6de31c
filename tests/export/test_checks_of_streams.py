"""Checks and `corpus trace` of formats whose files are the stream in another form: they agree with what was built."""

import csv
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.checks import upstream_of
from corpus_assets.export.datasets import exported_datasets
from corpus_assets.export.file_faults import faults_of, manifest_faults
from resources.stage.partition import Partition
from tests.export.exported import encoded, exported, partitions, tokenizer_of
from tests.export.test_trace import traced

DATASETS: list[dict[str, Any]] = [
    {"name": "ragged", "format": "ragged", "separator": "after"},
    {"name": "pieces", "format": "ragged", "context_length": 50, "bos_id": 0},
    {"name": "olmo", "format": "olmo", "file_ids": 400},
    {"name": "c", "format": "llmc", "shard_ids": 333},
    {"name": "nano", "format": "nanogpt"},
    {"name": "titan", "format": "torchtitan"},
    {"name": "trove", "format": "datatrove", "file_ids": 400},
]


def files_of(corpus: Corpus, name: str) -> list[str]:
    """Files with units, in order."""
    held = [file.path for one in partitions(corpus, f"{name}_tokens") for file in one.record.files]
    return [path for path in held if path.endswith((".data.npy", "0.npy", "1.npy", ".bin", ".ds"))]


def faults(corpus: Corpus) -> list[str]:
    found = []
    for dataset in exported_datasets(corpus.settings.values["datasets"]):
        given = upstream_of(corpus, dataset)
        assert given is not None
        made, (manifest,) = (
            [
                Partition(corpus.storage, one.record, compared=False)
                for one in partitions(corpus, f"{dataset.name}_{of}")
            ]
            for of in ("tokens", "manifest")
        )
        found += [fault for one in made for fault in faults_of(one.record, given)]
        found += manifest_faults(made, manifest)
    return found


def test_built_files_have_no_faults_and_changed_ones_do(tmp_path: Path) -> None:
    corpus = exported(tmp_path, *DATASETS)
    assert faults(corpus) == []
    for dataset in DATASETS:
        file = tmp_path / "corpus" / files_of(corpus, dataset["name"])[0]
        content = file.read_bytes()
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        (wrong, listed) = faults(corpus)
        assert "in the stream" in wrong
        assert listed == f"{file.name} is not what the manifest says"
        file.write_bytes(content)


@pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset["name"])
def test_a_token_leads_to_its_document(dataset: dict[str, Any], tmp_path: Path) -> None:
    corpus = exported(tmp_path, dataset)
    expected = [
        (document.id, len(ids))
        for split in partitions(corpus, "decontaminated_train")
        for document, ids in zip(split.documents(), encoded(corpus)[split.key], strict=True)
    ]
    path = files_of(corpus, dataset["name"])[-1]
    found = traced(tmp_path, dataset["name"], path, 0, 1)
    assert (found["origin"]["id"], found["ids"]) in expected


def test_documents_that_repeat_by_weights_are_found(tmp_path: Path) -> None:
    repeated = [{**dataset, "weights": {"tokens": {"books": 4000, "web": 1000}}} for dataset in DATASETS]
    corpus = exported(tmp_path, *repeated)
    assert faults(corpus) == []
    texts = {
        (document.source, document.id): document.text
        for split in partitions(corpus, "decontaminated_train")
        for document in split.documents()
    }
    for dataset in DATASETS:
        found = traced(tmp_path, dataset["name"], files_of(corpus, dataset["name"])[0], 0, 1)
        text = texts[found["origin"]["source"], found["origin"]["id"]]
        assert found["before"] + found["token"] + found["after"] in text


def test_rows_of_olmo_name_documents_that_repeat(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {"name": "olmo", "format": "olmo", "weights": {"tokens": {"books": 4000}}})
    tokenizer = tokenizer_of(corpus)
    texts = {
        document.id: document.text
        for split in partitions(corpus, "decontaminated_train")
        for document in split.documents()
    }
    seen = []
    for path in files_of(corpus, "olmo"):
        file = tmp_path / "corpus" / path
        ids = np.fromfile(file, np.uint16)
        with gzip.open(file.with_suffix(".csv.gz"), "rt", newline="") as table:
            for start, end, id_, *_ in csv.reader(table):
                assert tokenizer.decode(ids[int(start) : int(end) - 1]) == texts[id_]
                seen.append(id_)
    assert len(seen) > len(set(seen)) > 1
