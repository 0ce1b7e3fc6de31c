"""What differs between two stores is found from their records, with or without a corpus.yaml; nothing is written."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.diff.comparison import Difference, compared, compared_sides
from corpus_assets.diff.numbers import Asset, Numbers
from corpus_assets.diff.opened import Side, open_side
from corpus_assets.diff.page import html, sections
from resources.errors import BadFileError, ConfigError
from tests.build.conftest import built_once
from tests.build.small import drive, opened, raw_rows, write_config, write_raw

__all__ = ["built_once"]

HOSTILE = "<script>alert(1)</script>"
READ = "normalized_documents"


@pytest.fixture(scope="module")
def pair(built_once: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A built corpus, and the same with a document more, one less and one with another text, and another holdout."""
    old, new = (tmp_path_factory.mktemp("pair") / name for name in ("old", "new"))
    for folder in (old, new):
        shutil.copytree(built_once, folder)
    rows = [dict(row) for row in raw_rows()["books/three.jsonl"]]
    gone = rows.pop(0)
    rows[0]["text"] = "Quite another text. " * 20
    write_raw(new, "books/three.jsonl", [*rows, {"id": HOSTILE, "text": gone["text"]}])
    (new / "raw" / "notes" / "single.txt").unlink()
    write_config(new, {"split.holdout": 0.4})
    corpus = opened(new)
    assert not drive(corpus, list(corpus.graph)).failed
    return old, new


def files(folder: Path) -> dict[str, tuple[int, int]]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def test_what_follows_from_other_values_is_no_change_of_the_configuration() -> None:
    old = Numbers("a", "records", configuration={"card.title": None, "card.graph.name": "a", "card.steps": ["one"]})
    new = Numbers("a", "records", configuration={"card.title": "A", "card.graph.is_sample": False, "card.steps": []})
    assert [one.key for one in compared(old, new, ("a", "b")).configuration] == ["card.title"]


@pytest.mark.parametrize("part", ["corpus", "corpus.yaml", ""])
def test_stores_differ_in_documents_numbers_and_configuration(pair: tuple[Path, Path], part: str) -> None:
    sides = [open_side(folder / part if part else folder) for folder in pair]
    found = compared_sides(sides[0], sides[1], READ, 5)
    assert found.documents is not None
    books = found.documents["books"]
    assert (books.old, books.new, books.added, books.removed, books.changed) == (23, 23, 1, 1, 1)
    rows = raw_rows()["books/three.jsonl"]
    assert books.examples == {"added": [HOSTILE], "changed": [rows[1]["id"]], "removed": [rows[0]["id"]]}
    assert found.documents["notes"].removed == 1
    assert (found.documents["web"].added, found.documents["web"].changed) == (0, 0)
    assert [(one.key, one.old, one.new) for one in found.configuration] == [("split.holdout", 0.2, 0.4)]
    changed = {one.asset: one.what for one in found.assets}
    assert changed["raw_source"] == "partitions 7 -> 6, other content"
    assert "tokenizer" not in changed
    counted = {(one.of, one.measure): (one.old, one.new) for one in found.sources}
    assert counted["notes", "documents"] == (6, 5)
    assert ("web", "documents") not in counted
    assert {one.of for one in found.datasets} == {"train", "validation"}


def test_a_store_is_the_same_as_itself_and_as_its_folder(pair: tuple[Path, Path]) -> None:
    by_config, by_store = (open_side(pair[1] / part) for part in ("corpus.yaml", "corpus"))
    assert by_config.numbers.sources == by_store.numbers.sources
    for one in (by_config, by_store):
        assert compared_sides(one, by_store, READ, 5).is_empty


def test_an_address_is_no_side() -> None:
    with pytest.raises(ConfigError, match=r"received an address; valid: the corpus\.yaml"):
        open_side(Path("s3://key:word@bucket/corpus"))


def test_a_store_is_only_read(pair: tuple[Path, Path]) -> None:
    shutil.rmtree(pair[0] / "corpus" / "ledger" / ".snapshots", ignore_errors=True)
    known = files(pair[0] / "corpus")
    compared_sides(open_side(pair[0] / "corpus"), open_side(pair[1] / "corpus"), READ, 5)
    assert files(pair[0] / "corpus") == known


def test_a_page_escapes_what_documents_and_configurations_say(pair: tuple[Path, Path]) -> None:
    page = html(compared_sides(open_side(pair[0]), open_side(pair[1]), READ, 5))
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)" in page
    assert 'src="' not in page
    assert "<h2>Documents</h2>" in page


def report(**changes: Any) -> bytes:
    base = {
        "version": 1,
        "name": "c",
        "sources": [{"name": "books", "licence": None, "location": "raw", "files": 3, "raw_bytes": 10}],
        "steps": [
            {"name": "raw rows", "asset": "raw_source", "documents": 23, "text_bytes": None, "by_source": None},
            {
                "name": "read",
                "asset": READ,
                "documents": 23,
                "text_bytes": 5,
                "by_source": {"books": {"documents": 23}},
            },
            {
                "name": "kept",
                "asset": "mixed_pass1",
                "documents": 20,
                "text_bytes": None,
                "by_source": {"books": {"documents": 20}},
                "losses": [{"reason": "short", "documents": 2, "by_source": {"books": 2}}],
            },
        ],
        "splits": [{"name": "train", "documents": 10, "text_bytes": 100, "by_source": None}],
        "datasets": [{"name": "train", "format": "hdf5", "input": "x", "rows": 4, "tokens": 40, "sequence_length": 64}],
        "lengths": {},
        "duplicates": {"clusters": 1, "removed": 2, "largest": 3, "sources": {}},
        "configuration": {
            "mix": {"chunks": 3},
            "split": {"holdout": 0.1},
            "sources": [{"name": "books", "epochs": 1.0}],
        },
        "stages": {"train": {"code_version": "1", "partitions": 3, "digest": "x"}},
        **changes,
    }
    return json.dumps(base).encode()


def written(folder: Path, content: bytes, name: str = "report.json") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_a_kept_report_is_compared_in_what_it_counts(pair: tuple[Path, Path], tmp_path: Path) -> None:
    page = b'<html><script type="application/json" id="numbers">' + report() + b"</script></html>"
    sides = [open_side(written(tmp_path, report())), open_side(written(tmp_path, page, "index.html"))]
    assert sides[0].numbers == sides[1].numbers
    assert compared_sides(sides[0], sides[1], READ, 5).is_empty
    found = compared_sides(sides[0], open_side(pair[0]), READ, 5)
    assert found.documents is None
    assert found.no_documents.endswith("is a report, which holds numbers alone")
    assert [(one.key, one.old, one.new) for one in found.configuration] == [("split.holdout", 0.1, 0.2)]
    assert found.assets == []
    assert {(one.of, one.measure) for one in found.splits} == {("train", "documents"), ("train", "text_bytes")}
    assert next((one.reason, one.old) for one in found.dropped if one.measure == "books") == ("duplicate", 0)


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("a.json", b"{}", "is no report: Object missing required field `version`"),
        ("a.json", b"{", "is no report"),
        ("a.json", report(version=2), "is a report of version 2; those that can be compared: 1"),
        ("a.html", b"<html></html>", "neither JSON, nor a page with the numbers of one"),
        ("a.html", b'<script type="application/json" id="numbers">[]</script>', "is no report"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, name: str, content: bytes, fault: str) -> None:
    with pytest.raises(BadFileError, match=fault):
        open_side(written(tmp_path, content, name))


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="neither a ledger, as a store, nor a corpus"):
        open_side(tmp_path)
    with pytest.raises(ConfigError, match="there is no such file or folder"):
        open_side(tmp_path / "nothing")
    (tmp_path / "ledger").mkdir()
    with pytest.raises(ConfigError, match="is a store without a built partition"):
        open_side(tmp_path)


def between(old: Numbers, new: Numbers) -> Difference:
    return compared(old, new, ("old", "new"))


def test_values_that_only_one_side_has(tmp_path: Path) -> None:
    old = Numbers("c", "records", configuration={"a": 1, "b": 2}, sources={"web": {"documents": 1}})
    new = Numbers(
        "c", "records", configuration={"b": 3, "c": None}, sources={"web": {"text_bytes": 1}, "new": {"n": 1}}
    )
    old.assets, new.assets = {"x": Asset("1", 1, "d")}, {"y": Asset("1", 1, "d")}
    found = between(old, new)
    assert [(one.key, one.what) for one in found.configuration] == [("a", "removed"), ("b", "changed"), ("c", "added")]
    assert [(one.asset, one.what) for one in found.assets] == [("x", "removed"), ("y", "added")]
    # What a side did not count is not compared; a source that it does not have is.
    assert [(one.of, one.measure, one.old, one.new) for one in found.sources] == [("new", "n", None, 1)]
    titles = [section.title for section in sections(found)]
    assert titles == ["Configuration", "Numbers of sources", "Assets"]
    assert Side("x", old).documents(READ) is None


def test_reasons_are_compared_by_source_only_where_both_counted_so() -> None:
    old = Numbers("c", "records", dropped={"mix": {"short": {"": 5}, "long": {"web": 1}}})
    new = Numbers("c", "records", dropped={"mix": {"short": {"web": 3, "books": 4}, "long": {"web": 1, "books": 2}}})
    found = [(one.reason, one.measure, one.old, one.new) for one in between(old, new).dropped]
    assert found == [("long", "books", 0, 2), ("short", "", 5, 7)]


@pytest.mark.parametrize("name", ["report.json", "index.html"])
def test_the_report_of_a_store_counts_what_its_records_count(pair: tuple[Path, Path], name: str) -> None:
    kept = open_side(pair[1] / "corpus" / "report" / name)
    assert kept.numbers.kind == "report"
    found = compared_sides(kept, open_side(pair[1]), READ, 5)
    assert found.is_empty, found
    assert compared_sides(kept, open_side(pair[0]), READ, 5).sources


def test_a_tokenizer_of_a_dataset_is_not_taken_for_that_of_the_corpus(built_once: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    shutil.copytree(built_once, folder)
    (folder / "tokenizer.json").write_bytes(next((folder / "corpus" / "tokenizer").glob("tokenizer.json")).read_bytes())
    own = {"kind": "tokenizer_json", "path": "tokenizer.json", "eos": "<|endoftext|>"}
    (folder / "raw" / "exam").mkdir()
    (folder / "raw" / "exam" / "items.jsonl").write_text('{"id": "1", "text": "' + "any words " * 10 + '"}\n')
    changes = {
        "datasets": [
            {"name": "train", "sequence_length": 32},
            {"name": "other", "sequence_length": 32, "tokenizer": own},
        ],
        "benchmarks": [{"name": "exam", "location": "raw/exam"}],
    }
    write_config(folder, changes)
    corpus = opened(folder)
    assert not drive(corpus, list(corpus.graph)).failed
    side = open_side(folder)
    assert side.numbers.configuration["tokenizer.kind"] == "train"
    assert side.numbers.configuration["datasets.other.tokenizer.kind"] == "tokenizer_json"
    found = compared_sides(open_side(folder / "corpus" / "report" / "report.json"), side, READ, 5)
    assert [(one.key, one.old, one.new) for one in found.configuration] == []
