"""Streams of the small corpus: their rows, their files, and what recomputes them."""

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.streams.rows import packed
from corpus_assets.verification.verify import verify
from resources.errors import ConfigError
from resources.formats.codecs import open_zstd
from resources.stage.partition import Partition
from tests.build.small import contents, drive, opened, prose, statuses, write_config, write_raw, write_small

QUALITY = {"name": "quality", "taggers": ["c4_v2", "gopher_v2"]}
WORDS = "quality.gopher_v2.word_count"
KEY = "quality__gopher_v2__word_count"
WEB = {"name": "clean", "sources": ["books", "web"], "attributes": ["quality"], "rules": {WORDS: {"min": 3}}}


def written(folder: Path, *streams: Mapping[str, Any], **changes: Any) -> tuple[Corpus, set[str]]:
    """The small corpus with streams, and the assets that were computed for them."""
    if not (folder / "raw").exists():
        write_small(folder)
    write_config(folder, {"attributes": [QUALITY], "streams": list(streams), **changes})
    corpus = opened(folder)
    done = drive(corpus, corpus.graph.select(["+group:streams"]))
    assert (done.failed, done.waiting) == ([], [])
    return corpus, {asset for asset, _ in done.recomputed}


def rows(corpus: Corpus, asset: str, key: str | None = None) -> list[list[dict[str, Any]]]:
    """The rows of each file of a partition."""
    record = corpus.ledger.read(asset, key)
    assert record is not None
    lines = (file.path for file in record.files if file.path.endswith(".jsonl.gz"))
    return [[json.loads(line) for line in Partition(corpus.storage, record).lines(path)] for path in lines]


def test_rows_have_their_attributes_and_their_provenance(tmp_path: Path) -> None:
    corpus, _ = written(tmp_path, WEB)
    (found,) = rows(corpus, "clean_stream_documents", "books--two")
    assert len(found) == 8
    for place, row in enumerate(found):
        assert list(row) == sorted(row)
        assert row["metadata"] == {"provenance": f"two.jsonl.gz:{place + 1}"}
        assert row["attributes"][KEY] == [[0, len(row["text"]), float(len(row["text"].split()))]]
    (one,) = rows(corpus, "clean_stream_documents", "books--one")
    assert [row["metadata"]["provenance"] for row in one] == [f"one.jsonl:{n}" for n in (1, 3, 4, 5, 6, 7, 8, 9)]
    record = corpus.ledger.read("clean_stream_documents", "books--one")
    assert record is not None and record.statistics["dropped"] == {WORDS: 1}
    assert rows(corpus, "clean_stream_documents", "notes--list") == []
    assert verify(corpus, deep=True).bad == []


def test_fields_and_spans(tmp_path: Path) -> None:
    stream = {
        "name": "short",
        "attributes": ["quality"],
        "include": [f"$.attributes[?(@.{KEY}[0][2] < 3)]"],
        "span_replacement": [{"span": f"$.attributes.{KEY}", "replacement": "[{}]"}],
        "discard_fields": ["attributes", "source"],
        "min_text_length": 3,
    }
    corpus, _ = written(tmp_path, stream)
    (found,) = rows(corpus, "short_stream_documents", "books--one")
    assert found == [{"id": "books-ks/one-1", "text": "[Too short.]", "metadata": {"provenance": "one.jsonl:2"}}]
    record = corpus.ledger.read("short_stream_documents", "notes--list")
    assert record is not None and record.statistics["dropped"] == {"include": 4, "min_text_length": 1}


def test_some_files_of_a_source(tmp_path: Path) -> None:
    whole = {**WEB, "max_size": "1 GiB"}
    corpus, _ = written(tmp_path, whole)
    parts = [rows(corpus, "clean_stream_documents", key)[0] for key in ("books--one", "books--two", "web--deep--a")]
    corpus, _ = written(tmp_path, {**whole, "glob": ["o*.jsonl", "two.*", "deep/**"]})
    assert rows(corpus, "clean_stream") == [[row for part in parts for row in part]]
    assert rows(corpus, "clean_stream_documents", "web--b") == []
    assert written(tmp_path, {**whole, "glob": "o*.jsonl"})[1] == {"clean_stream_documents", "clean_stream"}


def test_files_of_several_shards(tmp_path: Path) -> None:
    corpus, _ = written(tmp_path, {**WEB, "max_size": 1})
    shards = [shard.key for shard in corpus.listing().shards if shard.source != "notes"]
    parts = [rows(corpus, "clean_stream_documents", key)[0] for key in shards]
    assert rows(corpus, "clean_stream") == parts
    corpus, computed = written(tmp_path, {**WEB, "max_size": "1 GiB"})
    assert computed == {"clean_stream"}
    assert rows(corpus, "clean_stream") == [[row for part in parts for row in part]]
    assert [file.path for file in corpus.ledger.records("clean_stream")[None].files if file.path.endswith(".gz")] == [
        "streams/clean/clean-0000.jsonl.gz"
    ]
    assert verify(corpus, deep=True).bad == []


def test_files_may_be_zstd(tmp_path: Path) -> None:
    whole = {**WEB, "max_size": 900}
    corpus, _ = written(tmp_path, whole)
    expected = rows(corpus, "clean_stream")
    corpus, computed = written(tmp_path, {**whole, "codec": "zst"})
    assert computed == {"clean_stream"}
    files = [file.path for file in corpus.ledger.records("clean_stream")[None].files if file.path.endswith(".zst")]
    assert files == [f"streams/clean/clean-{number:04}.jsonl.zst" for number in range(len(expected))]
    found = []
    for path in files:
        with corpus.storage.open(path) as raw, open_zstd(raw) as lines:
            found.append([json.loads(line) for line in lines])
    assert found == expected
    assert verify(corpus, deep=True).bad == []
    assert written(tmp_path, {**whole, "codec": "zst"})[1] == set()
    with pytest.raises(ConfigError, match="codec: zst goes with max_size"):
        written(tmp_path, {**WEB, "codec": "zst"})


def test_only_what_changed_is_computed(tmp_path: Path) -> None:
    whole = {**WEB, "max_size": "1 GiB"}
    written(tmp_path, whole)
    assert written(tmp_path, whole)[1] == set()
    write_raw(tmp_path, "books/two.jsonl.gz", [{"id": "new", "text": prose("new")}])
    corpus = opened(tmp_path)
    done = drive(corpus, corpus.graph.select(["+group:streams"]))
    assert {key for asset, key in done.recomputed if asset == "clean_stream_documents"} == {"books--two"}
    write_config(tmp_path, {"attributes": [QUALITY], "streams": [{**whole, "rules": {WORDS: {"min": 4}}}]})
    stale = {
        asset: why
        for (asset, _), (status, why) in statuses(opened(tmp_path).planner().plan()).items()
        if status == "stale"
    }
    assert stale == {"clean_stream_documents": f"streams.clean.rules.{WORDS}.min 3.0 -> 4.0"}


def test_workers_make_the_same(tmp_path: Path) -> None:
    found = [
        contents(written(tmp_path / str(workers), {**WEB, "max_size": 900}, **{"engine.workers": workers})[0])
        for workers in (0, 2)
    ]
    assert found[0] == found[1]


def test_compat_keeps_the_rows_as_they_were_given(tmp_path: Path) -> None:
    write_small(tmp_path)
    given_rows: list[dict[str, Any]] = [
        {"id": "a", "text": "e\u0301 " + prose(1), "source": "elsewhere", "extra": [1, 2**80], "metadata": "none"},
        {"id": "b", "text": prose(2), "attributes": {"old": 1}},
    ]
    (tmp_path / "raw/books/given.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given_rows))
    stream = {**WEB, "sources": ["books"], "compat": "dolma"}
    corpus, _ = written(tmp_path, stream)
    ((first, second),) = rows(corpus, "clean_stream_documents", "books--given")
    assert first["attributes"].keys() == second["attributes"].keys() - {"old"} > {KEY}
    assert second["attributes"]["old"] == 1
    assert {**first, "attributes": None} == {
        **given_rows[0],
        "attributes": None,
        "extra": [1, float(2**80)],
        "metadata": {"provenance": "given.jsonl:1"},
    }


@pytest.mark.parametrize("compat", ["dolma", None])
def test_compat_puts_files_together_in_the_order_of_their_paths(tmp_path: Path, compat: str | None) -> None:
    write_small(tmp_path)
    by_path = ["B/x", "a/B", "a/b", "a-b/x", "part-1", "part"]
    for name in by_path:
        write_raw(tmp_path, f"odd/{name}.jsonl", [{"id": name, "text": prose(name)}])
    stream = {"name": "all", "sources": ["odd"], "attributes": ["quality"], "min_text_length": 1, "max_size": "1 MiB"}
    corpus, _ = written(tmp_path, {**stream, "compat": compat}, sources=[{"name": "odd", "location": "raw/odd"}])
    (found,) = rows(corpus, "all_stream")
    by_key = [shard.path.removesuffix(".jsonl") for shard in corpus.listing().shards]
    assert [row["id"] for row in found] == (by_path if compat else by_key)
    assert by_key != by_path


@pytest.mark.parametrize(
    ("path", "lines", "message"),
    [
        ("books/bad.jsonl", '{"id": "a", "text": "one"}\n{broken\n', "books/bad.jsonl row 1: "),
        (
            "books/bad.jsonl",
            '{"id": "a", "text": "one"}\n{broken\n{"id": "c", "text": "two"}\n',
            "books/bad.jsonl row 1: ",
        ),
        ("books/bad.txt", "A text.", "has format txt, whose rows are no lines"),
        ("books/bad.jsonl", f'{{"id": {"9" * 400}, "text": "one"}}\n', "holds a number that is too large for a double"),
    ],
)
def test_compat_refuses_rows_that_are_not_those_of_the_documents(
    tmp_path: Path, path: str, lines: str, message: str
) -> None:
    write_small(tmp_path)
    (tmp_path / "raw" / path).write_text(lines)
    write_config(tmp_path, {"attributes": [QUALITY], "streams": [{**WEB, "sources": ["books"], "compat": "dolma"}]})
    corpus = opened(tmp_path)
    failed = drive(corpus, corpus.graph.select(["+group:streams"])).failed
    assert len(failed) == 1
    assert message in failed[0]


def test_compat_keeps_rows_without_an_id_and_with_a_very_long_one(tmp_path: Path) -> None:
    write_small(tmp_path)
    named: list[dict[str, Any]] = [{"id": 10**30, "text": "one two three"}, {"id": 7, "text": "four five six"}]
    unnamed = [{"text": row["text"]} for row in named]
    for name, given_rows in (("named", named), ("unnamed", unnamed)):
        lines = "".join(json.dumps(row) + "\n" for row in given_rows)
        (tmp_path / f"raw/books/{name}.jsonl").write_text(lines)
    corpus, _ = written(tmp_path, {**WEB, "sources": ["books"], "compat": "dolma", "discard_fields": ["attributes"]})
    named[0]["id"] = 1e30
    for name, given_rows in (("named", named), ("unnamed", unnamed)):
        (found,) = rows(corpus, "clean_stream_documents", f"books--{name}")
        assert found == [
            {**row, "metadata": {"provenance": f"{name}.jsonl:{n}"}} for n, row in enumerate(given_rows, 1)
        ]


def test_compat_replaces_no_spans_of_a_text_that_normalization_changed(tmp_path: Path) -> None:
    """They would be those of the normalized text: other characters of the raw one."""
    write_small(tmp_path)
    (tmp_path / "raw/books/given.jsonl").write_text(json.dumps({"id": "a", "text": "e\u0301e\u0301\nTwo words"}))
    short = "quality.c4_v2.lines_with_too_few_words"
    stream = {**WEB, "sources": ["books"], "compat": "dolma", "span_replacement": [{"span": short, "replacement": "-"}]}
    write_config(tmp_path, {"attributes": [QUALITY], "streams": [stream]})
    corpus = opened(tmp_path)
    (failed,) = drive(corpus, corpus.graph.select(["+group:streams"])).failed
    assert "books/given.jsonl row 0: has a text that normalization changed" in failed
    written(tmp_path, stream, **{"normalize.method": "none"})


@given(st.lists(st.integers(0, 9), max_size=9), st.integers(1, 20))
def test_files_are_put_together_in_order_up_to_a_size(sizes: list[int], most: int) -> None:
    named = {str(place): size for place, size in enumerate(sizes)}
    found = list(packed(named, most))
    assert [name for together in found for name in together] == list(named)
    assert all(len(together) == 1 or sum(named[name] for name in together) <= most for together in found)
    for before, after in pairwise(found):
        assert sum(named[name] for name in before) + named[after[0]] > most


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ({"name": "a", "sources": ["bookz"]}, "streams.0.sources: no source named 'bookz'; valid: books, web, notes"),
        ({"name": "a", "discard_fields": ["text"]}, "discard_fields: text cannot be removed"),
        ({"name": "a", "sources": ["web", "web"]}, "sources: one is named twice"),
        ({"name": "a", "attributes": ["qualiti"]}, "streams.a.attributes.0: no attribute named 'qualiti'"),
        ({"name": "a", "rules": {"x.y.z": {"min": 1}}}, "streams.a.rules.x.y.z: no attribute named 'x'"),
        ({"name": "A"}, "a name of a-z"),
    ],
)
def test_a_stream_that_cannot_be_is_refused(tmp_path: Path, stream: dict[str, Any], message: str) -> None:
    write_small(tmp_path)
    with pytest.raises(ConfigError) as found:
        write_config(tmp_path, {"attributes": [QUALITY], "streams": [stream]})
        opened(tmp_path)
    assert message in str(found.value)
