"""The filter keeps what the mixer of the Dolma toolkit keeps on the golden corpus, and leaves the same texts."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

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


@pytest.mark.parametrize("name", list(runs()))
def test_the_same_documents_with_the_same_texts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (stream,) = yaml.safe_load((GOLDEN / "configs" / name).read_text(encoding="utf-8"))["streams"]
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "given_attributes", raising=False)
    folder = str(GOLDEN / "corpus" / "attributes")
    (tmp_path / "given_attributes.py").write_text(GIVEN.format(folder=folder, names=stream["attributes"]))
    config = {
        "sources": sources_of(stream),
        "normalize": {"method": "none"},
        "stages": ["given_attributes"],
        "filter": section_of(stream),
        "engine": {"workers": 0},
        "storage": {"sync": False},
    }
    (tmp_path / "corpus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    corpus = opened(tmp_path)
    assert drive(corpus, corpus.graph.select(["+filtered_documents"])).failed == []
    expected = [row for file in sorted((GOLDEN / stream["output"]["path"]).rglob("*.gz")) for row in lines_of(file)]
    records = corpus.ledger.records("filtered_documents")
    keys = [shard.key for shard in corpus.listing().shards]
    found = [row for key in keys for row in Partition(corpus.storage, records[key]).documents()]
    assert [(row.id, row.text) for row in found] == [(row["id"], row["text"]) for row in expected] != []
