"""Entries of `dedupers` with `kind: semantic` as assets: what they mark, and what recomputes them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import UNSET

from corpus_assets.attributes.semantic import alike, leaders, static, vectors
from corpus_assets.card.steps import steps
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.report.model import decode
from corpus_assets.report.report import MODEL, PAGE
from resources.formats.attributes import AttributeRow, attribute_rows
from resources.formats.documents import Document
from resources.stage.partition import Partition
from tests.attributes.semantic.model import by_definition, texts, write_model
from tests.attributes.semantic.model import vectors as numbers_of
from tests.build.small import Built, contents, drive, live_records, opened, write_config, write_raw, write_small
from tests.forked import run

ENTRY: dict[str, Any] = {"kind": "semantic", "model": "model", "threshold": 0.97}
KEY = "semantic__semantic__duplicate"
ASSETS = [f"semantic_{name}" for name in ("vectors", "centers", "members", "alike", "attributes")]


def write(folder: Path, path: str, seed: int, count: int = 60) -> None:
    write_raw(folder, path, [{"id": f"{path}-{n}", "text": text} for n, text in enumerate(texts(seed, count))])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_small(tmp_path)
    write_model(tmp_path / "model")
    for path, seed in (("books/some.jsonl", 1), ("web/more.jsonl", 2), ("web/third.jsonl", 3)):
        write(tmp_path, path, seed)
    return tmp_path


def built(folder: Path, entry: Mapping[str, Any] = ENTRY, **changes: Any) -> tuple[Corpus, Built]:
    values = {"dedupers": [entry], "dedup.ranges": 3, **{key.replace("__", "."): v for key, v in changes.items()}}
    write_config(folder, values)
    corpus = opened(folder)
    done = drive(corpus, corpus.graph.select(["+semantic_attributes"]))
    assert (done.failed, done.waiting) == ([], [])
    return corpus, done


def partitions(corpus: Corpus, asset: str) -> list[Partition]:
    records = live_records(corpus)
    return [Partition(corpus.storage, record) for (name, _), record in records.items() if name == asset]


def documents(corpus: Corpus) -> list[Document]:
    return [document for shard in partitions(corpus, "normalized_documents") for document in shard.documents()]


def rows(corpus: Corpus) -> list[AttributeRow]:
    return [row for shard in partitions(corpus, "semantic_attributes") for row in attribute_rows(shard.lines())]


def marked(corpus: Corpus) -> dict[int, tuple[int, float]]:
    """Place of each marked document, with that of the kept one and the cosine."""
    given, found = documents(corpus), {}
    places = {(document.source, document.id): place for place, document in enumerate(given)}
    for place, (document, row) in enumerate(zip(given, rows(corpus), strict=True)):
        assert (row.id, row.source) == (document.id, document.source)
        if row.attributes:
            ((start, end, score),) = row.attributes[KEY]
            assert (start, end) == (0, len(document.text))
            kept = row.kept
            assert isinstance(kept, dict)
            found[place] = places[str(kept["source"]), str(kept["id"])], score
    return found


def require_equal(found: dict[int, tuple[int, float]], expected: dict[int, tuple[int, float]]) -> None:
    assert {place: kept for place, (kept, _) in found.items()} == {place: kept for place, (kept, _) in expected.items()}
    for place, (_, score) in found.items():
        assert score == pytest.approx(expected[place][1], abs=1e-3)


def test_marks_are_those_of_the_definition(folder: Path) -> None:
    corpus, _ = built(folder)
    given = [document.text for document in documents(corpus)]
    found = marked(corpus)
    require_equal(found, by_definition(given, 0.97, range(len(given))))
    assert 30 < len(found) < len(given) - 30


def test_the_rules_of_keep_choose_what_stays(folder: Path) -> None:
    corpus, _ = built(folder, {**ENTRY, "keep": ["longest"]})
    given = [document.text for document in documents(corpus)]
    longest_first = sorted(range(len(given)), key=lambda place: -len(given[place].encode()))
    by_length = marked(corpus)
    require_equal(by_length, by_definition(given, 0.97, longest_first))
    corpus, done = built(folder, ENTRY, dedup__keep=["longest"])
    assert marked(corpus) == by_length
    assert done.assets() <= {"semantic_alike", "semantic_attributes"}
    corpus, _ = built(folder, ENTRY, dedup__keep=["source"], dedup__priority=["web"])
    sources = [document.source for document in documents(corpus)]
    web_first = sorted(range(len(given)), key=lambda place: sources[place] != "web")
    require_equal(marked(corpus), by_definition(given, 0.97, web_first))


def test_what_goes_resembles_what_stays_in_any_number_of_clusters(folder: Path) -> None:
    alone = marked(built(folder)[0])
    corpus, done = built(folder, {**ENTRY, "clusters": 5})
    assert done.of("semantic_vectors") == set()
    found = marked(corpus)
    assert all(score >= 0.97 and kept not in found for kept, score in found.values())
    assert 0.8 * len(alone) < len(found) <= len(alone) + 5
    sizes = [partition.record.statistics["rows_in"] for partition in partitions(corpus, "semantic_alike")]
    assert sum(size > 0 for size in sizes) > 1


def test_neither_batches_nor_blocks_nor_memory_change_content(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {**ENTRY, "clusters": 3}
    before = contents(built(folder, entry)[0])
    for module, name, value in (
        (static, "BATCH", 7),
        (vectors, "BATCH", 7),
        (vectors, "_MOST_CHARACTERS", 300),
        (leaders, "BLOCK", 5),
        (leaders, "_LEADERS", 3),
        (alike, "_SHARE", 1 << 30),
    ):
        monkeypatch.setattr(module, name, value)
    other = folder / "other"
    write_small(other)
    write_model(other / "model")
    for path, seed in (("books/some.jsonl", 1), ("web/more.jsonl", 2), ("web/third.jsonl", 3)):
        write(other, path, seed)
    assert contents(built(other, entry)[0]) == before


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_content_is_the_same_for_any_number_of_workers(folder: Path, workers: int) -> None:
    before = contents(built(folder, {**ENTRY, "clusters": 3})[0])
    (folder / "corpus").rename(folder / "before")
    assert contents(built(folder, {**ENTRY, "clusters": 3}, engine__workers=workers)[0]) == before


def test_a_new_shard_and_a_new_model_recompute_what_depends_on_them(folder: Path) -> None:
    built(folder)
    write(folder, "web/unlike.jsonl", 99, 3)
    _, done = built(folder)
    assert done.of("semantic_vectors") == {"web--unlike"}
    assert done.of("semantic_members") == {"web--unlike"}
    assert done.of("semantic_attributes") <= {"web--unlike"}
    write_model(folder / "model", {"embeddings": numbers_of(1)})
    _, done = built(folder)
    assert len(done.of("semantic_vectors")) == len(partitions(opened(folder), "normalized_documents"))
    _, done = built(folder, {**ENTRY, "threshold": 0.99})
    assert done.assets() <= {"semantic_alike", "semantic_attributes"}


def test_rules_of_the_filter_use_the_cosine_and_the_mix_leaves_out(folder: Path) -> None:
    write_config(folder, {"dedupers": [ENTRY], "dedup.ranges": 3, "mix.leave_out": ["semantic_attributes"]})
    corpus = opened(folder)
    assert drive(corpus, corpus.graph.select(["+mixed_pass1"])).failed == []
    gone = len(marked(corpus))
    dropped = sum(
        one.record.statistics.get("dropped", {}).get("semantic_attributes", 0)
        for one in partitions(corpus, "mixed_pass1")
    )
    assert dropped == gone
    middle = sorted(score for _, score in marked(corpus).values())[gone // 2]
    rule = {"rules": {KEY.replace("__", "."): {"max": middle}}}
    write_config(folder, {"dedupers": [ENTRY], "dedup.ranges": 3, "filter": rule})
    corpus = opened(folder)
    assert drive(corpus, corpus.graph.select(["+filtered_documents"])).failed == []
    over = sum(score > middle for _, score in marked(corpus).values())
    kept = sum(one.file(".jsonl.gz").rows or 0 for one in partitions(corpus, "filtered_documents"))
    assert 0 < over < gone
    assert kept == len(documents(corpus)) - over


def test_the_report_and_the_papers_say_what_was_marked(folder: Path) -> None:
    write_config(folder, {"dedupers": [ENTRY], "dedup.ranges": 3})
    assert run(folder, "build", "--quiet")[0] == 0
    corpus = opened(folder)
    (report,) = [corpus.handle(record) for record in corpus.records("report").values()]
    model = decode(report.content(MODEL))
    assert model.semantic is not UNSET
    (found,) = model.semantic
    assert sum(numbers.get("flagged", 0) for numbers in found.sources.values()) == len(marked(corpus))
    assert "Documents that mean the same" in report.content(PAGE).decode()
    assert any("mean the same" in step for step in steps(corpus.settings.values))
    code, out, _ = run(folder, "plan", "--set", "dedupers.0.threshold=0.5", "--json")
    planned = {one["asset"] for one in json.loads(out)["partitions"] if one["status"] != "fresh"}
    assert code == 3
    assert {"semantic_alike", "semantic_attributes"} <= planned
    assert "semantic_vectors" not in planned


def test_an_exact_product_is_the_same_in_any_order() -> None:
    chance = np.random.default_rng(0)
    from corpus_assets.attributes.semantic.integers import products, units

    for dimensions in (1, 3, 256, 4096):
        rows, _ = units((chance.normal(size=(50, dimensions)) * 10.0 ** chance.integers(0, 15)).astype(np.int64))
        exact = rows.astype(np.int64) @ rows.astype(np.int64).T
        order = chance.permutation(dimensions)
        assert (products(rows, rows) == exact).all()
        assert (products(rows[:, order], rows[:, order]) == exact).all()
