"""Entries of `attributes` as assets: what they write, and what recomputes them."""

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.attributes import registry
from corpus_assets.corpus.corpus import Corpus
from docs.generate import FOLDER
from resources.errors import ConfigError
from resources.formats.attributes import AttributeRow, attribute_rows
from resources.formats.documents import Document
from resources.stage.partition import Partition
from tests.build.small import drive, opened, write_config, write_small

QUALITY = {"name": "quality", "taggers": ["gopher_v2", "char_length_v1"]}
LENGTHS = {"name": "lengths", "taggers": ["bytes_length_v1"]}


def built(folder: Path, *entries: Mapping[str, Any], **changes: Any) -> tuple[Corpus, set[str]]:
    """The attributes of the small corpus, and the assets that were computed for them."""
    write_config(folder, {"attributes": list(entries), **changes})
    corpus = opened(folder)
    done = drive(corpus, corpus.graph.select(["+group:attributes"]))
    assert (done.failed, done.waiting) == ([], [])
    return corpus, {asset for asset, _ in done.recomputed}


def rows(corpus: Corpus, asset: str) -> list[AttributeRow]:
    records = corpus.ledger.records(asset).values()
    return [row for record in records for row in attribute_rows(Partition(corpus.storage, record).lines())]


def documents(corpus: Corpus) -> list[Document]:
    records = corpus.ledger.records("normalized_documents").values()
    return [document for record in records for document in Partition(corpus.storage, record).documents()]


def test_rows_lie_beside_the_documents(tmp_path: Path) -> None:
    write_small(tmp_path)
    corpus, _ = built(tmp_path, QUALITY)
    found, texts = rows(corpus, "quality_attributes"), documents(corpus)
    assert [(row.id, row.source) for row in found] == [(document.id, document.source) for document in texts] != []
    for row, document in zip(found, texts, strict=True):
        size = len(document.text)
        assert row.attributes["quality__char_length_v1__length"] == [(0, size, float(size))]
        assert row.attributes["quality__gopher_v2__word_count"] == [(0, size, float(len(document.text.split())))]
    files = {path.relative_to(tmp_path / "corpus" / "documents") for path in tmp_path.rglob("documents/**/*.jsonl.gz")}
    beside = tmp_path / "corpus" / "attributes" / "quality"
    assert {path.relative_to(beside) for path in beside.rglob("*.jsonl.gz")} == files


def test_a_new_tagger_or_version_computes_its_entry_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_small(tmp_path)
    assert {"quality_attributes", "lengths_attributes"} <= built(tmp_path, QUALITY, LENGTHS)[1]
    assert built(tmp_path, QUALITY, LENGTHS)[1] == set()
    more = {**QUALITY, "taggers": ["c4_v2", *QUALITY["taggers"]]}
    write_config(tmp_path, {"attributes": [more, LENGTHS]})
    reasons = {d.asset: d.reason for d in opened(tmp_path).planner().plan().decisions if d.status == "stale"}
    assert reasons == {"quality_attributes": "attributes.quality.taggers.c4_v2 (unset) -> 1"}
    assert built(tmp_path, more, LENGTHS)[1] == {"quality_attributes"}
    reordered = {**more, "taggers": more["taggers"][::-1]}
    assert built(tmp_path, reordered, LENGTHS)[1] == set()
    newer = {**registry.BUILT_IN, "c4_v2": replace(registry.BUILT_IN["c4_v2"], version="2")}
    monkeypatch.setattr(registry, "BUILT_IN", newer)
    assert built(tmp_path, more, LENGTHS)[1] == {"quality_attributes"}


def test_without_entries_the_graph_is_as_it_was(tmp_path: Path) -> None:
    write_small(tmp_path)
    write_config(tmp_path)
    assert "attributes" not in opened(tmp_path).graph.groups()


def page_blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (FOLDER / "attributes.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small corpus, and the module of the page about attributes beside it."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "my_taggers", raising=False)
    write_small(tmp_path)
    (tmp_path / "my_taggers.py").write_text(page_blocks("python")[0])
    return tmp_path


def test_a_tagger_of_ones_own_as_the_page_has_it(own: Path) -> None:
    given = [yaml.safe_load(block) for block in page_blocks("yaml")]
    for settings in given:
        write_config(own, settings)
        opened(own)
    corpus, _ = built(own, *given[-1]["attributes"], taggers=given[-1]["taggers"])
    for row, document in zip(rows(corpus, "tone_attributes"), documents(corpus), strict=True):
        capitals = sum(map(str.isupper, document.text)) / max(1, len(document.text))
        assert row.attributes == {"tone__shouting__capitals": [(0, len(document.text), round(capitals, 5))]}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("1 / 0", "shouting: ZeroDivisionError: division by zero"),
        ("return {'1st': text.whole(1.0)}", "shouting: type '1st' cannot be part of an attribute key"),
        ("return {'share': text.whole(float('nan'))}", "shouting: score nan of 0 to "),
    ],
)
def test_a_tagger_that_fails_is_named_with_its_document(own: Path, body: str, message: str) -> None:
    code = page_blocks("python")[0].replace("    capitals = ", f"    {body}\n    capitals = ")
    (own / "my_taggers.py").write_text(code)
    write_config(own, {"taggers": ["my_taggers"], "attributes": [{"name": "tone", "taggers": ["shouting"]}]})
    corpus = opened(own)
    failed = drive(corpus, corpus.graph.select(["+group:attributes"])).failed
    assert any(message in words and re.search(r"books/one\.jsonl \(document 0, id '", words) for words in failed)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"name": "quality", "taggers": ["gopher"]}, "attributes.0.taggers: no tagger named 'gopher' (did you mean "),
        ({"name": "quality", "taggers": []}, "attributes.0.taggers: "),
        ({"name": "quality", "taggers": ["c4_v1", "c4_v1"]}, "c4_v1 named twice"),
        ({"name": "duplicates", "taggers": ["c4_v1"]}, "short_documents and duplicates are attributes already"),
        ({"name": "1st", "taggers": ["c4_v1"]}, "a name that starts with a letter"),
        ({"name": "quality", "taggers": ["c4_v1"], "compat": "dolme"}, "compat"),
    ],
)
def test_an_entry_that_cannot_be_is_refused(tmp_path: Path, entry: Mapping[str, Any], message: str) -> None:
    write_small(tmp_path)
    with pytest.raises(ConfigError) as found:
        write_config(tmp_path, {"attributes": [entry]})
        opened(tmp_path)
    assert message in str(found.value)


def test_keys_of_two_entries_differ(tmp_path: Path) -> None:
    write_small(tmp_path)
    twins = [{"name": name, "taggers": ["c4_v1"]} for name in ("a-b", "a.b")]
    with pytest.raises(ConfigError, match=r"'a-b' and 'a\.b' have the same keys"):
        write_config(tmp_path, {"attributes": twins})
