"""The asset `report`: the same content for the same input, whatever is configured, and a page that needs nothing."""

import json
import re
import shutil
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from corpus_assets import numbers
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.report.assets import NAME
from corpus_assets.report.model import VERSION, Model, Source, decode
from corpus_assets.report.report import MODEL, PAGE
from corpus_assets.report.sections.blocks import Table, Tiles
from corpus_assets.report.sections.summary import summary
from corpus_assets.report.sections.tokens import tokens
from resources.planning.planner import Status
from tests.build.small import digests, opened, write_config, write_raw
from tests.report.conftest import HOSTILE, build


def model(folder: Path) -> Model:
    return decode((folder / "corpus" / MODEL).read_bytes())


def page(folder: Path) -> str:
    return (folder / "corpus" / PAGE).read_text(encoding="utf-8")


def decision(corpus: Corpus) -> tuple[Status, str]:
    found = corpus.planner().decisions(corpus.graph[NAME])[None]
    return found.status, found.reason


class Elements(HTMLParser):
    """The start tags of a page with their attributes, and the text of its script elements."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def test_numbers_agree_with_the_records(folder: Path) -> None:
    found = model(folder)
    corpus = opened(folder)
    of = {asset: corpus.ledger.records(asset).values() for asset in ("normalized_documents", "decontaminated_train")}
    steps = {step.name: step for step in found.steps}
    assert found.version == VERSION
    assert steps["raw rows"].documents == sum(one.statistics["rows_in"] for one in of["normalized_documents"])
    assert steps["train"].documents == sum(one.statistics["rows_out"] for one in of["decontaminated_train"])
    assert {source.name for source in found.sources} == {"books", "web", "notes"}
    assert found.duplicates is not None
    assert found.duplicates.removed == sum(loss["removed"] for loss in found.duplicates.sources.values()) > 0
    assert found.stages.keys() == corpus.graph.stages.keys() - {NAME}
    assert {benchmark.name: benchmark.numbers["held"] for benchmark in found.benchmarks} == {"exam": 1}


def test_the_tile_of_the_sources_counts_no_files_of_datasets(folder: Path) -> None:
    ours = model(folder).sources
    theirs = Source("pairs", None, "raw/pairs", dataset="pairs", files=2, raw_bytes=1_000_000)
    (tiles,) = summary(msgspec.structs.replace(model(folder), sources=[*ours, theirs])).blocks
    said = f"{sum(one.files for one in ours)} raw files, {numbers.size(sum(one.raw_bytes for one in ours))}"
    assert isinstance(tiles, Tiles)
    assert tiles.pairs[0] == ("Sources", "3", said)


def test_every_step_keeps_what_it_does_not_lose(folder: Path) -> None:
    steps = model(folder).steps
    for before, after in pairwise(steps):
        lost = sum(loss.documents for loss in after.losses)
        assert after.documents == before.documents - lost + after.gained


def test_the_same_input_gives_the_same_content(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns("corpus"))
    for kept in ("tokenizer", "ledger/tokenizer"):
        shutil.copytree(folder / "corpus" / kept, other / "corpus" / kept)
    build(other)
    assert (other / "corpus" / MODEL).read_bytes() == (folder / "corpus" / MODEL).read_bytes()


def test_other_times_leave_it_fresh(folder: Path) -> None:
    corpus = opened(folder)
    before = digests(corpus)
    assert not Step(corpus, corpus.graph["components"], force=True).run()[0].error
    assert digests(opened(folder)) == before
    assert decision(opened(folder)) == (Status.FRESH, "")


def test_other_content_makes_it_stale_and_says_whose(folder: Path) -> None:
    write_raw(folder, "books/three.jsonl", [{"id": "new", "text": "word " * 50}])
    corpus = opened(folder)
    for name in ("raw_source", "normalized_documents"):
        Step(corpus, corpus.graph[name]).run()
    assert decision(opened(folder))[0] is Status.WAITING
    build(folder)
    assert decision(opened(folder)) == (Status.FRESH, "")
    assert model(folder).steps[0].documents == 39


def test_a_folded_input_names_the_asset_in_the_record_and_in_the_reason(folder: Path) -> None:
    corpus = opened(folder)
    (record,) = corpus.ledger.records(NAME).values()
    assert "normalized_documents/*" in record.inputs
    assert len(record.inputs) == len(corpus.graph.stages) - 1
    (other, *_) = corpus.ledger.records("minhashes").values()
    corpus.ledger.write(msgspec.structs.replace(other, digest="another"))
    # What reads it is not asked: `band_keys` reads a segment, which is the same.
    assert decision(opened(folder)) == (Status.STALE, "something in minhashes changed")


def test_the_page_holds_its_numbers_and_asks_for_nothing(folder: Path) -> None:
    content = page(folder)
    found = Elements(content)
    (written,) = [text for text in found.scripts if text.lstrip().startswith("{")]
    assert decode(written) == model(folder)
    assert len(found.named("script")) == 2
    for _, attributes in found.found:
        assert not {"src", "srcset", "action", "onclick"} & attributes.keys()
        assert (attributes.get("href") or "#").startswith(("#", "data:,"))
    assert "@import" not in content
    assert not re.search(r"url\(", content)


def test_texts_and_names_are_no_markup(folder: Path) -> None:
    content = page(folder)
    assert HOSTILE[:20] not in content
    assert "alert(1)" in content
    assert not any("<i>" in line for line in content.splitlines())
    assert "\x00" not in content
    assert "\u202e" not in content


def test_headings_regions_and_tables_are_told_apart(folder: Path) -> None:
    found = Elements(page(folder))
    names = [attributes["id"] for tag, attributes in found.found if attributes.get("id")]
    assert len(names) == len(set(names))
    targets = {attributes["href"][1:] for attributes in found.named("a") if attributes["href"]}
    assert targets <= set(names)
    levels = [int(tag[1]) for tag, _ in found.found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(attributes.get("scope") for attributes in found.named("th"))
    assert all(attributes.get("role") == "img" and attributes.get("aria-label") for attributes in found.named("svg"))


def test_clusters_show_what_was_kept_and_where_texts_differ(folder: Path) -> None:
    found = model(folder).duplicates
    assert found is not None
    hostile = [cluster for cluster in found.samples if "alert" in str(cluster.kept.pieces)]
    (cluster,) = hostile
    assert (cluster.kept.source, [one.source for one in cluster.removed]) == ("books", ["web"])
    marked = [piece.strip() for piece, mark in cluster.removed[0].pieces if mark]
    assert marked == ["more"]


def test_matched_spans_are_marked(folder: Path) -> None:
    (benchmark,) = model(folder).benchmarks
    (text,) = benchmark.texts
    assert [mark for _, mark in text.pieces if mark] == ["found"]


@pytest.mark.parametrize(
    "config",
    [
        {"benchmarks": [], "filter": None, "attributes": []},
        {"datasets": []},
        {"mix.leave_out": ["short_documents"]},
    ],
)
def test_what_is_not_configured_is_absent(folder: Path, config: dict[str, Any]) -> None:
    shutil.rmtree(folder / "corpus")
    write_config(folder, config)
    build(folder)
    found = model(folder)
    assert len(found.datasets) == (0 if "datasets" in config else 2)
    assert len(found.steps) > 3
    assert Elements(page(folder)).named("h2")


def test_a_corpus_of_own_files_only(built_once: Path, tmp_path: Path) -> None:
    (tmp_path / "raw/own").mkdir(parents=True)
    (tokenizer,) = (built_once / "corpus/tokenizer").glob("*tokenizer.json")
    (tmp_path / "tokenizer.json").write_bytes(tokenizer.read_bytes())
    lines = "".join(json.dumps({"text": f"text {number} " * 9}) + "\n" for number in range(9))
    (tmp_path / "raw/own/one.jsonl").write_text(lines)
    dataset = {"name": "own", "input": {"location": "raw/own", "licence": "CC0-1.0"}, "sequence_length": 16}
    given = {"kind": "tokenizer_json", "path": "tokenizer.json", "eos": "<|endoftext|>"}
    texts = {"name": "texts", "format": "text", "input": {"location": "raw/own"}}
    write_config(tmp_path, {"sources": [], "datasets": [dataset, texts], "tokenizer": given})
    build(tmp_path)
    found = model(tmp_path)
    assert (found.steps, found.splits, found.duplicates) == ([], [], None)
    sources = [(source.name, source.licence, source.files) for source in found.sources]
    assert sources == [("own", "CC0-1.0", 1), ("texts", None, 1)]
    assert found.datasets[0].tokens > 0
    (table,) = [one for one in tokens(found).blocks if isinstance(one, Table) and one.caption == "Datasets"]
    shown = {row[0]: row[5:7] for row in table.rows}
    assert shown == {"own": [found.datasets[0].rows, found.datasets[0].tokens], "texts": [9, None]}
    found.datasets = found.datasets[1:]
    assert "Tokens" not in str(summary(found)), "texts have none"


def test_records_of_older_versions_are_told_from_nothing(folder: Path) -> None:
    """Numbers by source that a record does not have are no zeros."""
    corpus = opened(folder)
    for asset in corpus.graph.stages:
        for record in corpus.ledger.records(asset).values():
            known = ("rows_in", "rows_out", "text_bytes", "documents", "repeats", "dropped", "duplicates", "clusters")
            statistics = {name: value for name, value in record.statistics.items() if name in known}
            corpus.ledger.write(msgspec.structs.replace(record, statistics=statistics))
    corpus = opened(folder)
    assert not Step(corpus, corpus.graph[NAME], force=True).failures()
    assert not Step(opened(folder), corpus.graph[NAME], force=True).run()[0].error
    steps = {step.name: step for step in model(folder).steps}
    assert steps["train"].by_source is None
    assert steps["kept"].by_source is not None
    assert "not counted by the version that made it" in page(folder)
