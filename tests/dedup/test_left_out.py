"""Of a text that the mix could use, one document stays: none is removed in favour of one that the mix leaves out."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.dedup.hooks import BandKeysHooks
from corpus_assets.dedup.left_out import beside_left_out
from corpus_assets.dedup.shared import FEATURELESS, LEFT_OUT
from resources.stage.declaration import Input, Partitioning, Stage, same
from resources.stage.partition import Partition
from tests.build.small import CONFIG, drive, live_records, near, opened, prose, write_config

URLS: dict[str, Any] = {"name": "urls", "by": "url"}
SETTINGS = {"dedup": {"short_documents": "exclude", "verify": "none"}}
LEAVE_OUT = ["short_documents", "duplicates", "urls_attributes"]


@pytest.mark.parametrize("copy", [str, near])
def test_no_document_goes_in_favour_of_one_that_the_mix_leaves_out(tmp_path: Path, copy: Any) -> None:
    first, second = prose("first", 200), prose("second", 200)
    rows = [
        {"id": "a", "text": first, "metadata": {"url": "https://a.example"}},
        {"id": "b", "text": second, "metadata": {"url": "https://a.example"}},
        {"id": "c", "text": copy(second), "metadata": {"url": "https://b.example"}},
        {"id": "d", "text": copy(first), "metadata": {"url": "https://c.example"}},
    ]
    (tmp_path / "raw/books").mkdir(parents=True)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "raw/books/one.jsonl").write_text(lines, encoding="utf-8")
    write_config(tmp_path, {"sources": CONFIG["sources"][:1], "dedupers": [URLS], "mix.leave_out": LEAVE_OUT})
    corpus = opened(tmp_path)
    assert drive(corpus, corpus.graph.select(["+mixed_pass2"])).failed == []
    records = live_records(corpus)
    chunks = [Partition(corpus.storage, record) for (asset, _), record in records.items() if asset == "mixed_pass2"]
    assert sorted(document.id for chunk in chunks for document in chunk.documents()) == ["a", "c"]
    assert [record.statistics["dropped"] for (asset, _), record in records.items() if asset == "mixed_pass1"] == [
        {"duplicate": 1, "urls_attributes": 1}
    ]


def _stage(name: str, *inputs: Input, io: Any = "documents", **more: Any) -> Stage:
    return Stage(
        name=name,
        group="any",
        description="",
        partitioning=Partitioning.SHARD,
        compute=lambda task: None,
        code_version="1",
        io=io,
        inputs=inputs,
        **more,
    )


def test_what_is_made_of_the_bands_is_not_asked_by_them() -> None:
    bands = _stage("band_keys", io="arrays", hooks=BandKeysHooks())
    stages = [
        _stage("short_documents"),
        _stage("loud"),
        bands,
        _stage("duplicates", same("band_keys")),
        _stage("repeats", same("duplicates")),
        _stage("sketches", io="arrays"),
    ]
    for leave_out, asked in (
        (["short_documents", "duplicates"], []),
        (["repeats", "sketches", "unknown"], []),
        (["loud", "short_documents", "repeats"], ["loud"]),
    ):
        found = {stage.name: stage for stage in beside_left_out(stages, leave_out)}
        assert list(found) == [stage.name for stage in stages]
        assert [edge.asset for edge in found["band_keys"].inputs] == asked
        said = {LEFT_OUT: asked} if asked else {}
        assert found["band_keys"].hooks.derived_parameters(SETTINGS) == {FEATURELESS: False, **said}
