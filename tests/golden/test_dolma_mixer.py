"""The filter keeps what the mixer of the Dolma toolkit keeps on the golden corpus, and leaves the same texts."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.corpus.corpus import Corpus
from resources.formats.codecs import open_zstd
from resources.stage.partition import Partition
from tests.build.small import drive, opened
from tests.golden.test_dolma import GOLDEN, lines_of

pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="no golden files of the Dolma toolkit")

GIVEN = '''
"""Attributes that the toolkit wrote, as attributes of this corpus."""

from functools import partial
from pathlib import Path

from resources import Partitioning, Stage, attribute_rows, same
from resources.formats.codecs import open_gzip

FOLDER, NAMES = {folder!r}, {names!r}


def given(task, name):
    with (Path(FOLDER) / name / task.shard.path).open("rb") as raw, open_gzip(raw) as lines:
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
    for file in sorted((GOLDEN / "configs").glob("mix_*")) if GOLDEN.is_dir() else []:
        streams = yaml.safe_load(file.read_text(encoding="utf-8"))["streams"]
        if len(streams) == 1 and "filter" in streams[0]:
            yield file.name


def written(stream: dict[str, Any]) -> list[Path]:
    """The files that the toolkit wrote for a stream, in their order."""
    folder = GOLDEN / stream["output"]["path"]
    return [
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name.startswith(("part-", f"{stream['name']}-"))
    ]


def rows_of(file: Path) -> list[dict[str, Any]]:
    """The rows of a file that the toolkit wrote, in gzip or zstd."""
    if file.suffix != ".zst":
        return lines_of(file)
    with file.open("rb") as raw, open_zstd(raw) as lines:
        return [json.loads(line) for line in lines]


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
    documents = GOLDEN / "corpus" / "documents"
    files = [file for pattern in stream["documents"] for file in sorted(GOLDEN.glob(pattern))]
    names: dict[str, str] = {}
    for file in files:
        names.setdefault(file.relative_to(documents).parts[0], lines_of(file)[0]["source"])
    return [
        {"name": name, "location": str(documents), "glob": f"{folder}/**/*.gz", "may_be_empty": True}
        for folder, name in names.items()
    ]


def golden_corpus(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stream: dict[str, Any], sections: dict[str, Any]
) -> Corpus:
    """The golden documents of a stream, with the attributes that the toolkit wrote for it."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "given_attributes", raising=False)
    given = GIVEN.format(folder=str(GOLDEN / "corpus" / "attributes"), names=stream["attributes"])
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
    (stream,) = yaml.safe_load((GOLDEN / "configs" / name).read_text(encoding="utf-8"))["streams"]
    corpus = golden_corpus(tmp_path, monkeypatch, stream, {"filter": section_of(stream)})
    assert drive(corpus, corpus.graph.select(["+filtered_documents"])).failed == []
    expected = [row for file in written(stream) for row in lines_of(file)]
    records = corpus.ledger.records("filtered_documents")
    keys = [shard.key for shard in corpus.listing().shards]
    found = [row for key in keys for row in Partition(corpus.storage, records[key]).documents()]
    assert [(row.id, row.text) for row in found] == [(row["id"], row["text"]) for row in expected] != []


def all_streams() -> Iterator[tuple[str, int]]:
    """Every stream of the golden runs: file of its configuration, and place there."""
    for file in sorted((GOLDEN / "configs").glob("mix_*")) if GOLDEN.is_dir() else []:
        yield from ((file.name, place) for place in range(len(yaml.safe_load(file.read_text("utf-8"))["streams"])))


@pytest.mark.parametrize(("name", "place"), list(all_streams()))
def test_a_stream_has_the_same_files(name: str, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = yaml.safe_load((GOLDEN / "configs" / name).read_text(encoding="utf-8"))
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
    expected = [rows_of(file) for file in written(stream)]
    assert [len(rows) for rows in files] == [len(rows) for rows in expected] != []
    assert files == expected
