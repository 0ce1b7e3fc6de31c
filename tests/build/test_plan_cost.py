"""A plan costs one listing and the records that changed, never one read per partition."""

from pathlib import Path
from typing import BinaryIO

import pytest

from benchmarks.synthetic import write_synthetic
from resources.shards.listing import Shard
from resources.storage.local.store import LocalStorage
from tests.build.small import opened

SHARDS = 1000


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synthetic")
    write_synthetic(folder, SHARDS)
    return folder


def test_the_second_look_reads_snapshots_only(synthetic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened(synthetic).planner().plan()
    assert first.counts()["fresh"] == len(first.decisions) > 6 * SHARDS
    opens: list[str] = []
    plain = LocalStorage.open

    def counting(storage: LocalStorage, path: str) -> BinaryIO:
        opens.append(path)
        return plain(storage, path)

    def never(shard: Shard) -> str:
        raise AssertionError(f"{shard.key} was hashed")

    monkeypatch.setattr(LocalStorage, "open", counting)
    monkeypatch.setattr(Shard, "digest", never)
    corpus = opened(synthetic)
    assert corpus.planner().plan().counts() == first.counts()
    records = [path for path in opens if ".snapshots" not in path]
    assert len(opens) - len(records) == len(corpus.graph.stages)
    assert len(records) < 100
    opens.clear()
    assert corpus.planner().plan().counts() == first.counts()
    assert len(opens) < 100


def test_one_changed_file_is_one_stale_chain(synthetic: Path) -> None:
    file = synthetic / "raw/books/s00003.jsonl"
    file.write_bytes(b"yy")
    found = opened(synthetic).planner().plan()
    stale = {(d.asset, d.partition) for d in found.decisions if d.status == "stale"}
    assert stale == {("inventory", None), ("raw_source", "books--s00003")}
    per_shard = [d for d in found.of("normalized_documents") if d.status != "fresh"]
    assert [(d.partition, d.status, d.reason) for d in per_shard] == [
        ("books--s00003", "waiting", "raw_source/books--s00003 is stale")
    ]
