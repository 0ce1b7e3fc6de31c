"""The filter keeps what the mixer of the Dolma toolkit keeps on the golden corpus, and leaves the same texts."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.corpus.corpus import Corpus
from resources.stage.partition import Partition
from tests.build.small import drive, opened
from tests.golden.dolma import ABSENT, SET, configs, documents, streams, top
from tests.golden.files import plain_name, rows

pytestmark = pytest.mark.skipif(not SET.is_dir(), reason=ABSENT)

GIVEN = '''
"""Attributes that the toolkit wrote, as attributes of this corpus."""

from functools import partial
from pathlib import Path

from resources import Partitioning, Stage, attribute_rows, same
from tests.golden.files import content

FOLDER, NAMES = {folder!r}, {names!r}


def given(task, name):
    lines = content(Path(FOLDER) / name / task.shard.path).splitlines(keepends=True)
    with task.attributes(name) as out:
        documents = task.input("normalized_documents").documents()
        for row, document in zip(attribute_rows(lines), documents, strict=True):
            assert row.id == document.id
            out.add(document, row.attributes)


STAGES = [
    Stage(name=name, group="attributes", description="given", partitioning=Partitioning.SHARD, code_version="1",
          compute=partial(given, name=name), io="documents", inputs=(same("normalized_documents"),))
    for name in NAMES
]
'''


def runs() -> Iterator[str]:
    """The golden runs of the mixer with one stream that the filter can say: those in which something is filtered."""
    for name, config in configs().items():
        if len(config.get("streams", [])) == 1 and "filter" in config["streams"][0]:
            yield name


def written(stream: dict[str, Any]) -> list[Path]:
    """The files that the toolkit wrote for a stream, in their order."""
    folder, names = SET / stream["output"]["path"], {plain_name(file) for file in documents(*stream["documents"])}
    return [
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file() and (plain_name(file) in names or file.name.startswith(f"{stream['name']}-"))
    ]


def section_of(stream: dict[str, Any]) -> dict[str, Any]:
    """The section `filter` that says what a stream of the mixer says."""
    found = {**stream["filter"], "attributes": stream["attributes"], "compat": "dolma"}
    if "span_replacement" in stream:
        found["span_replacement"] = stream["span_replacement"]
    if "min_text_length" in stream["output"]:
        found["min_text_length"] = stream["output"]["min_text_length"]
    return found


def sources_of(stream: dict[str, Any]) -> list[dict[str, Any]]:
    """A source for each folder of documents that a stream reads, named as its first document is."""
    root = top() / "documents"
    names: dict[str, str] = {}
    for pattern in stream["documents"]:
        for file in documents(pattern):
            names.setdefault(file.relative_to(root).parts[0], rows(file)[0]["source"])
    return [
        {"name": name, "location": str(root), "glob": [folder, f"{folder}/**/*"], "may_be_empty": True}
        for folder, name in names.items()
    ]


def golden_corpus(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stream: dict[str, Any], sections: dict[str, Any]
) -> Corpus:
    """The golden documents of a stream, with the attributes that the toolkit wrote for it."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "given_attributes", raising=False)
    given = GIVEN.format(folder=str(top() / "attributes"), names=stream["attributes"])
    (folder / "given_attributes.py").write_text(given)
    config = {
        "sources": sources_of(stream),
        "normalize": {"method": "none"},
        "stages": ["given_attributes"],
        "engine": {"workers": 0},
        "storage": {"sync": False},
        **sections,
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return opened(folder)


@pytest.mark.parametrize("name", list(runs()))
def test_the_same_documents_with_the_same_texts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (stream,) = configs()[name]["streams"]
    corpus = golden_corpus(tmp_path, monkeypatch, stream, {"filter": section_of(stream)})
    assert drive(corpus, corpus.graph.select(["+filtered_documents"])).failed == []
    expected = [row for file in written(stream) for row in rows(file)]
    records = corpus.ledger.records("filtered_documents")
    keys = [shard.key for shard in corpus.listing().shards]
    found = [row for key in keys for row in Partition(corpus.storage, records[key]).documents()]
    assert [(row.id, row.text) for row in found] == [(row["id"], row["text"]) for row in expected] != []


@pytest.mark.parametrize(("name", "place"), [(name, place) for name, place, _ in streams()])
def test_a_stream_has_the_same_files(name: str, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = configs()[name]
    stream = config["streams"][place]
    shuffled, output = config.get("shuffle", True), stream["output"]
    section = {
        **stream.get("filter", {}),
        "name": stream["name"],
        "attributes": stream["attributes"],
        "span_replacement": stream.get("span_replacement", []),
        "discard_fields": output.get("discard_fields", []),
        "min_text_length": output.get("min_text_length"),
        "max_size": output["max_size_in_bytes"] if shuffled else None,
        "compat": "dolma",
    }
    corpus = golden_corpus(tmp_path, monkeypatch, stream, {"streams": [section]})
    asset = f"{stream['name']}_stream" if shuffled else f"{stream['name']}_stream_documents"
    assert drive(corpus, corpus.graph.select([f"+{asset}"])).failed == []
    keys = [None] if shuffled else [shard.key for shard in corpus.listing().shards]
    records = corpus.ledger.records(asset)
    files = [
        [json.loads(line) for line in Partition(corpus.storage, records[key]).lines(file.path)]
        for key in keys
        for file in records[key].files
        if file.path.endswith(".jsonl.gz")
    ]
    expected = [rows(file) for file in written(stream)]
    assert [len(held) for held in files] == [len(held) for held in expected] != []
    assert files == expected
