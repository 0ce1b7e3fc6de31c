"""Rows whose text is a bare string or a list of strings, as SlimPajama's readers take them (`normalize.texts`)."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.build.small import drive, opened, write_config
from tests.export.exported import partitions

LINES: list[Any] = [
    {"text": "one"},
    "a bare\ttext",
    {"text": ["first", "second ’"], "meta": {"k": 1}},
    {"text": ["first", "\ud800"]},
    {"text": []},
    {"text": ["first", 2]},
    {"text": 7},
    ["first"],
]
STRICT = {"not_an_object": 2, "text_not_a_string": 5}
LOOSE = {"not_an_object": 1, "text_not_a_string": 2}


@pytest.mark.parametrize(
    ("name", "packed"), [("a.jsonl", bytes), ("a.jsonl.zst", zstandard.compress), ("a.jsonl.gz", gzip.compress)]
)
@pytest.mark.parametrize(
    ("changes", "texts", "dropped"),
    [
        ({"normalize": {"method": "ftfy"}}, ["one"], STRICT),
        ({"compat": "slimpajama", "normalize": {"texts": "strings"}}, ["one"], STRICT),
        ({"compat": "slimpajama"}, ["one", "a bare\ttext", "first\n\nsecond '", "first\n\n\ufffd", ""], LOOSE),
    ],
)
def test_texts(
    tmp_path: Path,
    name: str,
    packed: Callable[[bytes], bytes],
    changes: dict[str, Any],
    texts: list[str],
    dropped: dict[str, int],
) -> None:
    (tmp_path / "raw" / "own").mkdir(parents=True)
    (tmp_path / "raw" / "own" / name).write_bytes(packed("".join(f"{json.dumps(row)}\n" for row in LINES).encode()))
    sources = [{"name": "own", "location": "raw/own", "max_bad_rows": 1}]
    write_config(tmp_path, {"sources": sources, "datasets": [], **changes})
    corpus = opened(tmp_path)
    done = drive(corpus, corpus.graph.select(["+normalized_documents"]))
    assert (done.failed, done.waiting) == ([], [])
    (partition,) = partitions(corpus, "normalized_documents")
    assert partition.record.statistics["dropped"] == dropped
    assert ("normalize.texts" in partition.record.parameters) == (dropped is LOOSE)
    assert [document.text for document in partition.documents()] == texts
