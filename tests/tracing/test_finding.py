"""Documents are found by id, digest, source and text, in pieces of a search that together look at everything once."""

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from corpus_assets.tracing.finding import Found, Sought, find_documents
from corpus_assets.tracing.look import Look
from resources.errors import ConfigError
from tests.build.small import drive, opened, raw_rows, write_config, write_raw, write_small

ROWS = raw_rows()
OWN = {"name": "own", "sequence_length": 64, "input": {"location": "raw/own"}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("finding"))
    write_raw(
        folder, "own/a.jsonl", [{"id": f"own-{n}", "text": f"An example of our own, number {n}."} for n in range(700)]
    )
    write_config(folder, {"datasets": [OWN], "filter": {"min_text_length": 5}})
    corpus = opened(folder)
    assert not drive(corpus, corpus.graph.select(["+filtered_documents", "+own_examples"])).failed
    return folder


@pytest.fixture
def look(folder: Path) -> Look:
    return Look(opened(folder))


def all_found(look: Look, sought: Sought, limit: int, seconds: float = 60.0) -> tuple[list[Found], int]:
    """What all pieces of a search find together, and how many rows they looked at."""
    found, looked_at, cursor = list[Found](), 0, None
    while True:
        results = find_documents(look, sought, limit=limit, seconds=seconds, cursor=cursor)
        found += results.found
        looked_at += results.looked_at
        cursor = results.cursor
        if cursor is None:
            assert looked_at == results.total
            return found, looked_at


def expected(piece: str, source: str | None = None) -> list[tuple[str, str]]:
    return [
        (path.partition("/")[0], row["id"])
        for path, rows in ROWS.items()
        for row in rows
        if piece in row["text"] and source in (None, path.partition("/")[0]) and not path.endswith(".txt")
    ]


@pytest.mark.parametrize("limit", [1, 3, 1000])
@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_pieces_of_a_search_look_at_every_row_once(look: Look, limit: int, seconds: float) -> None:
    text = ROWS["books/one.jsonl"][3]["text"]
    for piece in (text[40:60], "an", "own, number 6"):
        found, _ = all_found(look, Sought(piece=piece), limit, seconds)
        of_sources = [(one.source, one.id) for one in found if one.source != "own" and "single" not in one.shard]
        assert sorted(of_sources) == sorted(expected(piece))
        assert len(found) == len(set(found))
    assert len(all_found(look, Sought(piece="number 6"), limit, seconds)[0]) == 1 + 10 + 100
    assert len(all_found(look, Sought(source="own"), limit, seconds)[0]) == 700


def test_a_time_of_nothing_still_goes_on(look: Look) -> None:
    results = find_documents(look, Sought(piece="nowhere at all"), seconds=0.0)
    assert results.cursor is not None
    assert 0 < results.looked_at < results.total


def test_an_id_is_found_with_its_place(look: Look) -> None:
    wanted = ROWS["web/deep/a.parquet"][4]["id"]
    (found,) = find_documents(look, Sought(id=wanted)).found
    assert found == Found("web", wanted, "web--deep--a", 4)
    assert find_documents(look, Sought(id=wanted, source="books")).found == []
    assert find_documents(look, Sought(id=wanted[:-1])).found == []
    pieces = find_documents(look, Sought(id_piece=wanted[:-1]), limit=100).found
    assert [one.number for one in pieces if one.shard == "web--deep--a"] == list(range(8))
    assert find_documents(look, Sought(id="own-77")).found == [Found("own", "own-77", "own--a", 77)]


def test_a_digest_is_found_of_normalized_and_of_filtered_texts(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "changed"
    shutil.copytree(folder, copy)
    quality = {"name": "pii", "taggers": ["pii_regex_with_counts_fast_v2"]}
    rows = [dict(row) for row in ROWS["books/one.jsonl"]]
    rows[4]["text"] += " Write to someone@example.org now."
    write_raw(copy, "books/one.jsonl", rows)
    span = {"span": "pii.pii_regex_with_counts_fast_v2.EMAIL_ADDRESS", "replacement": "(mail)"}
    section = {"min_text_length": 20, "span_replacement": [span]}
    write_config(copy, {"datasets": [], "attributes": [quality], "filter": section})
    corpus = opened(copy)
    assert not drive(corpus, corpus.graph.select(["+filtered_documents"])).failed
    look = Look(opened(copy))
    for text in (rows[4]["text"], rows[4]["text"].replace("someone@example.org", "(mail)")):
        digest = hashlib.sha256(text.encode()).digest()
        (found,) = find_documents(look, Sought(digest=digest)).found
        assert (found.shard, found.number) == ("books--one", 4)
    digest = hashlib.sha256(rows[0]["text"].encode()).digest()
    assert {one.shard for one in find_documents(look, Sought(digest=digest)).found} == {"books--one", "books--two"}


def test_all_that_is_given_must_hold(look: Look) -> None:
    row = ROWS["books/two.jsonl.gz"][3]
    sought = Sought(id=row["id"], piece=row["text"][5:25], source="books")
    assert len(find_documents(look, sought).found) == 1
    for other in (replace(sought, piece="no such words"), replace(sought, source="web"), replace(sought, id="nobody")):
        assert find_documents(look, other).found == []


def test_what_cannot_be_is_refused(look: Look) -> None:
    with pytest.raises(ConfigError, match=r"no source named 'bookz' \(did you mean 'books'\?\); there are books, web"):
        find_documents(look, Sought(source="bookz"))
    for cursor in ("nothing:0", "normalized_documents/books--one:x", "5"):
        with pytest.raises(ConfigError, match="is none of this search"):
            find_documents(look, Sought(), cursor=cursor)
