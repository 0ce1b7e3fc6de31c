"""Asset checks of files for trainers: they pass on what was built, and name what was changed since."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.checks import upstream_of
from corpus_assets.export.datasets import exported_datasets
from corpus_assets.export.file_faults import faults_of, manifest_faults
from resources.stage.partition import Partition
from tests.export.exported import exported, folder_of, partitions

NAME = "files"
DATASET = {"name": NAME, "format": "megatron"}


def found(corpus: Corpus) -> list[str]:
    """What the checks of the dataset find."""
    (dataset,) = exported_datasets(corpus.settings.values["datasets"])
    given = upstream_of(corpus, dataset)
    assert given is not None
    made, (manifest,) = (
        [Partition(corpus.storage, one.record, compared=False) for one in partitions(corpus, f"{NAME}_{asset}")]
        for asset in ("tokens", "manifest")
    )
    of_files = [fault for one in made for fault in faults_of(one.record, given)]
    return of_files + manifest_faults(made, manifest)


@pytest.mark.parametrize("weights", [None, {"shares": {"books": 1, "web": 3}}])
def test_built_files_have_no_faults(tmp_path: Path, weights: Mapping[str, Any] | None) -> None:
    assert found(exported(tmp_path, {**DATASET, "weights": weights})) == []


def test_documents_as_dolma_makes_them_have_no_faults(tmp_path: Path) -> None:
    dataset = {"name": NAME, "format": "olmo", "compat": "dolma", "bos_token": "b"}
    assert found(exported(tmp_path, dataset)) == []


def _change_an_id(content: bytes) -> bytes:
    return content[:40] + bytes([content[40] ^ 1]) + content[41:]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (_change_an_id, "id 20 of chunk-0000 is"),
        (lambda content: content[:-2], "too early"),
        (lambda content: content + b"\0\0", "1 ids more than were recorded"),
    ],
    ids=["changed", "cut", "longer"],
)
def test_a_changed_file_is_found(tmp_path: Path, change: Callable[[bytes], bytes], fault: str) -> None:
    corpus = exported(tmp_path, DATASET)
    file = folder_of(tmp_path, NAME) / "chunk-0000_text_document.bin"
    file.write_bytes(change(file.read_bytes()))
    faults = found(corpus)
    assert any(fault in one for one in faults), faults
    assert "chunk-0000_text_document.bin is not what the manifest says" in faults
