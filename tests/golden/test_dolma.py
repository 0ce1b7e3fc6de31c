"""Taggers equal the original, value for value, on whatever lies in the golden folder of the Dolma toolkit."""

from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.attributes.assets import asset_name
from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.attributes.tagging import Named, TaggerError, attributes_of
from corpus_assets.corpus.step import Step
from resources.formats.documents import Document
from tests.build.small import drive, opened
from tests.golden.dolma import ABSENT, SET, attributes, top
from tests.golden.files import row_files, rows

pytestmark = pytest.mark.skipif(not SET.is_dir(), reason=ABSENT)


@cache
def strings() -> dict[str, list[dict[str, Any]]]:
    """Short texts with their attributes, by tagger."""
    found: dict[str, list[dict[str, Any]]] = {}
    for case in rows(SET / "tagger_strings.jsonl"):
        found.setdefault(case["tagger"], []).append(case)
    return found


def as_dolma(tagger: str, text: str) -> dict[str, Any]:
    """Attributes by type, or the class of the error, as the golden strings have them."""
    chosen = BUILT_IN[tagger]
    named = Named(tagger, "", chosen.dolma or chosen.tag)
    try:
        found = attributes_of(Document("a", text, "s"), [named])
    except TaggerError as error:
        return {"error": type(error.__cause__).__name__}
    return {"attributes": {key: [list(span) for span in spans] for key, spans in found.items()}}


@pytest.mark.parametrize("tagger", sorted(strings()) if SET.is_dir() else [])
def test_strings(tagger: str) -> None:
    assert tagger in BUILT_IN
    for case in strings()[tagger]:
        expected = {key: case[key] for key in ("attributes", "error") if key in case}
        assert as_dolma(tagger, case["text"]) == expected, case["text"]


def is_usable(tagger: str) -> bool:
    """Whether the libraries are installed that a tagger needs."""
    try:
        return all(version(wheel) for wheel in BUILT_IN[tagger].wheels)
    except PackageNotFoundError:
        return False


def experiments() -> Iterator[tuple[str, list[str]]]:
    """The name of every golden folder that taggers made, and those of its taggers that can run here."""
    for folder in sorted((top() / "attributes").iterdir()):
        said = [row for file in row_files(folder) for row in rows(file)]
        keys = {
            key.split("__")[1] for row in said if "source" in row for key in row["attributes"]
        }  # A deduper's: none.
        if chosen := sorted(filter(is_usable, keys & set(BUILT_IN))):
            yield folder.name, chosen


def rows_of(file: Path, taggers: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """Id and attributes of every row, without those of other taggers."""
    return [
        (row["id"], {key: spans for key, spans in row["attributes"].items() if key.split("__")[1] in taggers})
        for row in rows(file)
    ]


def test_files(tmp_path: Path) -> None:
    """The golden documents as a corpus, with an entry of `attributes` for each golden experiment."""
    entries = dict(experiments())
    config = {
        "sources": [{"name": "all", "location": str(top() / "documents")}],
        "normalize": {"method": "none"},
        "attributes": [{"name": n, "taggers": taggers, "compat": "dolma"} for n, taggers in entries.items()],
        "engine": {"workers": 0},
        "storage": {"sync": False},
    }
    (tmp_path / "corpus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    corpus = opened(tmp_path)
    assert drive(corpus, corpus.graph.select(["+normalized_documents"])).failed == []
    shards = {Path(shard.path): shard for shard in corpus.listing().shards}
    for name, taggers in entries.items():
        golden = attributes(name)
        files = [file.relative_to(golden) for file in row_files(golden)]
        step = Step(corpus, corpus.graph[asset_name(name)], [shards[file].key for file in files])
        assert [outcome.error for outcome in step.run()] == [None] * len(files) != []
        for file in files:
            ours = tmp_path / "corpus" / "attributes" / name / "all" / f"{shards[file].name}.jsonl.gz"
            assert rows_of(ours, taggers) == rows_of(golden / file, taggers), (name, file)
