"""Ids that several files of a source have are counted, whatever the memory."""

import json
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.dedup.documents.repeated_ids import REPEATED_IDS, repeated_ids
from corpus_assets.orchestration.building.notes import build_notes
from resources.formats.row_tables import TEXT
from resources.stage.partition import Partition
from tests.build.small import drive, opened, prose

IDS = st.lists(st.sampled_from(["", "a", "b", "ab", "ä", "1", "2", "3"]), max_size=6)


def partition(source: str, ids: list[str]) -> Partition:
    texts = np.zeros(len(ids), TEXT)
    packed = [identifier.encode() for identifier in ids]
    texts["id_end"] = np.cumsum([len(one) for one in packed])
    arrays = {".texts.npy": texts, ".ids.npy": np.frombuffer(b"".join(packed), np.uint8)}
    return cast(Partition, SimpleNamespace(shard=SimpleNamespace(source=source), array=arrays.__getitem__))


@pytest.mark.parametrize("memory", [64, 1 << 20])
@given(files=st.lists(st.tuples(st.sampled_from(["s", "t"]), IDS), max_size=6))
def test_ids_of_earlier_files_are_counted(memory: int, files: list[tuple[str, list[str]]]) -> None:
    expected: dict[str, Any] = {}
    for source in ("s", "t"):
        own = [ids for name, ids in files if name == source]
        repeated = sum(len(set(ids)) for ids in own) - len({one for ids in own for one in ids})
        if repeated:
            expected[source] = {"documents": sum(map(len, own)), "repeated": repeated}
    assert repeated_ids([partition(*file) for file in files], memory, BytesIO) == expected


def test_a_build_says_how_many_ids_its_files_share(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    for name, numbers in (("a", range(100)), ("b", range(97, 200)), ("c", range(200, 300))):
        rows = ({"id": f"{n}", "text": prose(f"{name}{n}")} for n in numbers)
        (tmp_path / f"raw/{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = {"sources": [{"name": "web", "location": "raw"}], "engine": {"workers": 0}, "storage": {"sync": False}}
    (tmp_path / "corpus.yaml").write_text(json.dumps(config))
    corpus = opened(tmp_path)
    drive(corpus, corpus.graph.select(["+components"]))
    record = corpus.ledger.records("components")[None]
    assert record.statistics[REPEATED_IDS] == {"web": {"documents": 303, "repeated": 3}}
    said = "source web: 3 of 303 documents have an id that an earlier of its files has"
    assert said in build_notes(corpus.planner())
