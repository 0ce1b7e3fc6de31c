"""What each step of a way says, for documents that end in every stage and those that reach the token files."""

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.tracing.from_tokens.exports import trace_export
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.step import Step, Way
from corpus_assets.tracing.way import way_of
from resources.errors import ConfigError
from tests.build.small import drive, opened, prose, raw_rows, write_config, write_raw, write_small
from tests.export.exported import exported
from tests.export.test_every_format import FORMATS, dataset

SHORT_ROW, EXACT, NEAR, BAD = ("books--one", 1), ("books--two", 0), ("web--deep--a", 3), ("books--one", 9)


def stages(way: Way) -> list[str]:
    return [step.stage for step in way.steps]


def last(way: Way) -> Step:
    return way.steps[-1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small corpus with a broken line, rows that are taken down, a filter and a held-out text of two sources."""
    folder = write_small(tmp_path_factory.mktemp("ways"))
    lines = folder / "raw" / "books" / "one.jsonl"
    lines.write_text(lines.read_text() + '{"broken\n{"id": "taken", "text": "Some text."}\n{"id": "none"}\n')
    (folder / "lists").mkdir()
    (folder / "lists" / "legal.txt").write_text("# because\nbooks\ttaken\n")
    write_config(
        folder,
        {
            "remove": {"location": "lists/*.txt"},
            "filter": {"min_text_length": 5},
            "sources.0.max_bad_rows": 1.0,
            "sources.2.max_bad_rows": 1.0,
            "datasets": [{"name": "train", "input": "decontaminated_train", "sequence_length": 64}],
        },
    )
    assert not drive(opened(folder)).failed
    return folder


@pytest.fixture
def look(built: Path) -> Look:
    return Look(opened(built))


def test_a_bad_row_ends_with_the_reason_and_what_the_reader_found(look: Look) -> None:
    way = way_of(look, *BAD)
    assert (way.number, way.origin.row, way.origin.file) == (None, 9, str(look.corpus.folder / "raw/books/one.jsonl"))
    assert stages(way) == ["raw_source", "normalized_documents"]
    assert (last(way).status, last(way).reason) == ("dropped", "invalid_json")
    assert "line 10" in last(way).details["found"]
    assert last(way_of(look, "books--one", 11)).reason == "no_text"


def test_a_row_that_was_taken_down_names_the_line_of_the_list(look: Look) -> None:
    step = last(way_of(look, "books--one", 10))
    assert (step.reason, step.details["list"]) == ("takedown", "legal.txt line 2")
    assert "legal.txt line 2" in step.words


def test_without_its_raw_file_a_lost_row_has_all_recorded_reasons(built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(built, folder)
    (folder / "raw" / "books" / "one.jsonl").write_text("{}\n")
    step = last(way_of(Look(opened(folder)), *BAD))
    assert step.reason == "invalid_json or takedown or no_text"
    assert "1 as takedown" in step.words
    assert step.stale.startswith("waiting") or step.stale.startswith("stale")


def test_a_short_document_says_its_length_and_the_threshold(look: Look) -> None:
    way = way_of(look, *SHORT_ROW)
    assert stages(way)[-2:] == ["filtered_documents", "short_documents"]
    assert (last(way).reason, last(way).details) == ("short", {"threshold": 60, "cleaned": 9})


def test_a_filtered_document_names_rule_and_value(look: Look) -> None:
    way = way_of(look, "notes--list", 1)
    assert stages(way)[-2:] == ["normalized_documents", "filtered_documents"]
    assert (last(way).status, last(way).reason) == ("dropped", "min_text_length")
    assert last(way).details["found"] in last(way).words


def test_duplicates_name_the_document_kept_and_how_alike_they_are(look: Look) -> None:
    exact, near = way_of(look, *EXACT), way_of(look, *NEAR)
    kept = last(exact).other
    assert kept is not None
    assert (kept.source, kept.id, kept.row) == ("books", raw_rows()["books/one.jsonl"][0]["id"], 0)
    assert last(exact).details["equal"]
    other = last(near).other
    assert other is not None
    assert (other.shard, other.row) == ("books--one", 2)
    assert 0.7 < last(near).details["resemblance"] < 1
    assert last(near).details["cluster_size"] == 3
    in_its_stead = next(step for step in way_of(look, "books--one", 2).steps if step.stage == "duplicates")
    assert {one["shard"] for one in in_its_stead.details["others"]} == {"books--two", "web--deep--a"}
    assert in_its_stead.status == "here"


def test_a_document_has_a_way_for_each_of_its_uses(look: Look) -> None:
    ways = [way_of(look, "web--b", row) for row in range(7)]
    uses = {len([step for step in way.steps if step.stage == "mixed_pass2"]) for way in ways}
    assert uses == {1, 2}
    twice = next(way for way in ways if stages(way).count("mixed_pass2") == 2)
    assert {step.copy for step in twice.steps if step.copy is not None} == {0, 1}


def test_the_rows_of_hdf5_are_found_by_a_search_or_it_says_that_it_did_not_look(look: Look) -> None:
    key, row = "books--three", next(n for n in range(6) if "train" in stages(way_of(look, "books--three", n)))
    (found,) = [step for step in way_of(look, key, row).steps if step.stage == "train_tokens"]
    assert found.status == "here"
    assert found.file is not None
    assert found.file.startswith("tokens/train/chunk-")
    assert found.details["found_share"] > 0.9
    (left,) = [step for step in way_of(look, key, row, seconds=0).steps if step.stage == "train_tokens"]
    assert (left.status, left.details["fault"]) == ("unknown", "it was not searched for")


def test_what_is_not_built_or_stale_is_said(built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "stale"
    shutil.copytree(built, folder)
    write_config(folder, {"short_documents.threshold": 61, "datasets": [], "sources.0.max_bad_rows": 1.0})
    way = way_of(Look(opened(folder)), "books--three", 0)
    short = next(step for step in way.steps if step.stage == "short_documents")
    assert short.details["threshold"] == 60
    assert "short_documents.threshold 60 -> 61" in short.stale
    shutil.rmtree(folder / "corpus" / "ledger" / "duplicates")
    way = way_of(Look(opened(folder)), "books--three", 0)
    assert (last(way).stage, last(way).status) == ("duplicates", "unknown")
    assert "not built" in last(way).words


def test_a_text_that_another_source_holds_out_ends_before_training(tmp_path: Path) -> None:
    write_small(tmp_path)
    both = [{"id": f"same{n}", "text": prose(f"same {n}")} for n in range(12)]
    write_raw(tmp_path, "books/one.jsonl", both)
    write_raw(tmp_path, "web/b.jsonl.zst", both)
    write_config(tmp_path, {"mix.leave_out": [], "split.holdout": 0.5, "datasets": []})
    corpus = opened(tmp_path)
    assert not drive(corpus, corpus.graph.select(["+decontaminated_train", "validation", "test"])).failed
    look = Look(opened(tmp_path))
    ends = [last(way_of(look, "books--one", row)) for row in range(12)]
    lost = [(row, step) for row, step in enumerate(ends) if step.reason == "text_in_holdout"]
    assert lost
    for row, step in lost:
        assert step.other is not None
        assert (step.other.source, step.other.id) == ("web", f"same{row}")


def test_rows_and_shards_that_are_not_there_are_refused(look: Look) -> None:
    with pytest.raises(ConfigError, match=r"row 99: valid in normalized_documents/books--one: 0 to 11"):
        way_of(look, "books--one", 99)
    with pytest.raises(ConfigError, match=r"books--onn is not built \(did you mean 'books--one'\?\)"):
        way_of(look, "books--onn", 0)


def held(way: Way, dataset: str) -> set[tuple[str, int]]:
    """The rows of a dataset that a document is in, as its way says."""
    return {
        (run["file"], row)
        for step in way.steps
        if step.stage == f"{dataset}_tokens" and step.status == "here"
        for run in step.details["rows"]
        for row in range(run["first"], run["last"] + 1)
    }


def every_token(corpus: Corpus, name: str) -> set[tuple[str | None, int | None, str, int]]:
    """For every row of every file of a dataset, the documents that its tokens are traced back to."""
    found = set()
    for record in corpus.ledger.records(f"{name}_tokens").values():
        for file in {place["path"] for place in record.counters["places"]["files"]}:
            for row in range(10_000):
                try:
                    places = [trace_export(corpus, name, file, row, position).origin for position in range(0, 33, 8)]
                except ConfigError as error:
                    if str(error).startswith("row"):
                        break
                    places = [trace_export(corpus, name, file, row, 0).origin]
                found |= {(origin.shard, origin.row, file, row) for origin in places}
    return found


@pytest.fixture(scope="module")
def every_format(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return exported(tmp_path_factory.mktemp("formats"), *map(dataset, FORMATS))


@pytest.mark.slow
@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", FORMATS)
def test_every_row_that_a_token_is_traced_from_is_on_the_way_of_its_document(every_format: Corpus, name: str) -> None:
    corpus, look = every_format, Look(every_format)
    seen = every_token(corpus, name)
    assert len(seen) > 10
    ways = {(shard, row): held(way_of(look, shard or "", row or 0), name) for shard, row, _, _ in seen}
    assert [one for one in seen if (one[2], one[3]) not in ways[one[0], one[1]]] == []


def test_a_document_is_in_the_rows_that_its_tokens_come_from(tmp_path: Path) -> None:
    names = ("megatron", "parquet", "amber")
    corpus = exported(tmp_path, *map(dataset, names))
    look = Look(opened(tmp_path))
    way = next(way for row in range(8) if "train" in stages(way := way_of(look, "web--deep--a", row)))
    for name in names:
        rows = held(way, name)
        assert rows
        for file, row in rows:
            length = 1 if name == "megatron" else 32
            traced = [trace_export(corpus, name, file, row, position).origin for position in range(length)]
            assert (way.origin.shard, way.origin.row) in {(one.shard, one.row) for one in traced}


def test_an_example_of_a_datasets_own_file_is_followed_to_its_rows(tmp_path: Path) -> None:
    rows = [{"id": f"d{n}", "text": prose(f"gap {n}")} for n in range(6)]
    write_raw(tmp_path, "own/a.jsonl", rows)
    file = tmp_path / "raw" / "own" / "a.jsonl"
    file.write_text("not JSON\n" + file.read_text())
    files = {"location": "raw/own"}
    exported(tmp_path, {"name": "meg", "format": "megatron", "input": files})
    look = Look(opened(tmp_path))
    assert last(way_of(look, "meg--a", 0)).reason == "invalid_json"
    way = way_of(look, "meg--a", 3)
    assert (way.origin.id, way.number) == ("d2", 2)
    assert stages(way) == ["meg_raw_source", "meg_examples", "meg_token_stream", "meg_tokens"]
    assert [row for _, row in held(way, "meg")] == [2]


MIXED = [
    dataset("megatron", weights={"shares": {"books": 1, "web": 3}, "max_epochs": 9}),
    dataset("parquet", weights={"shares": {"books": 3, "web": 1, "notes": 1}, "max_epochs": 9}),
]


@pytest.mark.parametrize("given", MIXED, ids=str)
def test_weights_and_uses_are_followed_into_every_row(tmp_path: Path, given: dict[str, Any]) -> None:
    name = given["name"]
    corpus = exported(tmp_path, given)
    look = Look(opened(tmp_path))
    seen = every_token(corpus, name)
    ways = {(shard, row): held(way_of(look, shard or "", row or 0), name) for shard, row, _, _ in seen}
    assert [one for one in seen if (one[2], one[3]) not in ways[one[0], one[1]]] == []
    left_out = [way for row in range(5) if "train" in stages(way := way_of(look, "notes--list", row))]
    assert ("notes" in given["weights"]["shares"]) == any(held(way, name) for way in left_out)
    assert all(step.reason in (None, "not_in_mixture", "tail") for way in left_out for step in way.steps)


def test_the_sets_of_a_mix_are_followed_to_its_lines(tmp_path: Path) -> None:
    plain = {"name": "plain", "format": "megatron"}
    write_small(tmp_path)
    write_raw(tmp_path, "own/a.jsonl", [{"id": f"d{n}", "text": prose(f"own {n}")} for n in range(9)])
    own = {"name": "own", "format": "megatron", "input": {"location": "raw/own"}}
    sets = [{"source": "split", "datasets": ["plain"]}, {"source": "files", "datasets": ["own"]}]
    corpus = exported(tmp_path, plain, own, dataset("amber", input=sets))
    look = Look(opened(tmp_path))
    seen = every_token(corpus, "amber")
    assert {"own--a"} < {shard for shard, _, _, _ in seen}
    ways = {(shard, row): held(way_of(look, shard or "", row or 0), "amber") for shard, row, _, _ in seen}
    assert [one for one in seen if (one[2], one[3]) not in ways[one[0], one[1]]] == []


def test_weights_of_hdf5_say_how_often_they_take_a_document(tmp_path: Path) -> None:
    write_small(tmp_path)
    weights = {"shares": {"books": 1, "web": 3}, "max_epochs": 9}
    rows = {"name": "rows", "input": "decontaminated_train", "sequence_length": 64, "weights": weights}
    write_config(tmp_path, {"datasets": [rows]})
    corpus = opened(tmp_path)
    assert not drive(corpus, corpus.graph.select(["+rows_tokens"])).failed
    look = Look(opened(tmp_path))
    taken = Counter[str]()
    for made in look.partitions("normalized_documents"):
        for row in range(made.file(".jsonl.gz").rows or 0):
            for step in way_of(look, made.key or "", row).steps:
                if step.stage == "rows_documents" and step.status == "here":
                    taken[(made.key or "").partition("--")[0]] += len(step.details["rows"])
                if step.stage == "rows_tokens":
                    assert step.status == "here"
    written = sum(made.file(".jsonl.gz").rows or 0 for made in look.partitions("rows_documents"))
    assert taken.total() == written
    assert set(taken) == {"books", "web"}


def test_a_document_is_in_the_streams_whose_rules_keep_it(tmp_path: Path) -> None:
    write_small(tmp_path)
    streams = [{"name": "all", "sources": ["books"]}, {"name": "long", "min_text_length": 100}]
    write_config(tmp_path, {"streams": streams, "datasets": []})
    corpus = opened(tmp_path)
    assert not drive(corpus, corpus.graph.select(["+all_stream_documents", "+long_stream_documents"])).failed
    look = Look(opened(tmp_path))
    documents = {step.stage: step for step in way_of(look, "books--one", 1).steps}
    assert (documents["all_stream_documents"].row, documents["all_stream_documents"].status) == (1, "here")
    assert documents["long_stream_documents"].reason == "min_text_length"
    after = {step.stage: step for step in way_of(look, "books--one", 5).steps}
    assert (after["long_stream_documents"].row, after["long_stream_documents"].status) == (4, "here")
    assert "all_stream_documents" not in stages(way_of(look, "web--b", 1))
