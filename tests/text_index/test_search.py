"""A search with the index of texts finds what a search without it finds, and reads only what may hold the phrase."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus_assets.filter.assets import READ
from corpus_assets.text_index.assets import NAME
from corpus_assets.tracing import finding
from corpus_assets.tracing.finding import Found, Sought, find_documents
from corpus_assets.tracing.likely import likely_rows
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.tables import count_of, text_at
from corpus_assets.viewer.app import standing_alone
from tests.build.small import drive, opened, prose, write_config, write_raw, write_small

CHANGES = {"search_index": True, "datasets": []}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("index"), CHANGES)
    long = [{"id": f"long-{n}", "text": " ".join(prose(f"{n} {part}", 60) for part in range(60))} for n in range(30)]
    odd = [{"id": "odd", "text": "漢字かな交じり文の長いテキスト 🦜🦜 \n\t und “Zeichen”"}, {"id": "none", "text": ""}]
    write_raw(folder, "books/long.jsonl", long)
    write_raw(folder, "books/odd.jsonl", odd)
    write_raw(folder, "books/empty.jsonl", [])
    corpus = opened(folder)
    assert drive(corpus, corpus.graph.select([f"+{NAME}"])).failed == []
    return folder


def texts(folder: Path) -> Iterator[tuple[Found, str]]:
    look = Look(opened(folder))
    for made in look.partitions(READ):
        for number in range(count_of(made)):
            yield finding._named(made, number), text_at(made, number)


def found(folder: Path, piece: str) -> list[Found]:
    return find_documents(Look(opened(folder)), Sought(piece=piece), limit=1000, seconds=60).found


@pytest.mark.parametrize("length", [3, 8, 15, 40, 400])
def test_every_document_with_a_phrase_is_found(built: Path, length: int) -> None:
    known = list(texts(built))
    for number in range(0, len(known), 7):
        text = known[number][1]
        piece = text[len(text) // 3 : len(text) // 3 + length]
        if piece:
            assert found(built, piece) == [one for one, held in known if piece in held]


def test_other_characters_are_found_too(built: Path) -> None:
    assert [one.id for one in found(built, "交じり文の長い")] == ["odd"]
    assert [one.id for one in found(built, "🦜🦜 \n\t und “Z")] == ["odd"]


def test_characters_that_lines_spell_otherwise_are_found(tmp_path: Path) -> None:
    text = 'He said: "C:\\dir\\a/b" <tag> & \x01\x7f\u2028 l\'été\r\n\tend'
    folder = write_small(tmp_path, CHANGES)
    write_raw(folder, "books/one.jsonl", [{"id": "spelled", "text": text}, {"id": "other", "text": prose(3)}])
    corpus = opened(folder)
    assert drive(corpus, corpus.graph.select([f"+{NAME}"])).failed == []
    (stored,) = (held for one, held in texts(folder) if one.id == "spelled")
    for start in range(len(stored)):
        for length in (1, 3, 9, 14):
            assert "spelled" in {one.id for one in found(folder, stored[start : start + length])}
    assert found(folder, "\ud800 half") == []


def test_few_documents_are_read(built: Path) -> None:
    look = Look(opened(built))
    (made,) = (one for one in look.partitions(READ) if one.key == "books--long")
    piece = text_at(made, 17)[5000:5060].encode()
    likely = likely_rows(look, made, piece)
    assert likely is not None and likely[17]
    assert int(likely.sum()) <= 6


def test_an_index_of_other_texts_is_not_asked(built: Path, tmp_path: Path) -> None:
    folder = write_small(tmp_path, CHANGES)
    corpus = opened(folder)
    drive(corpus, corpus.graph.select([f"+{NAME}"]))
    new = {"id": "new", "text": f"{prose('new')} a phrase that came later"}
    write_raw(folder, "books/one.jsonl", [new])
    corpus = opened(folder)
    drive(corpus, corpus.graph.select([f"+{READ}"]))
    assert [one.id for one in found(folder, "a phrase that came later")] == ["new"]


def test_without_the_key_there_is_no_index(tmp_path: Path) -> None:
    write_small(tmp_path)
    assert NAME not in opened(tmp_path).graph.stages
    write_config(tmp_path, CHANGES)
    assert NAME in opened(tmp_path).graph.stages


def test_other_ids_leave_the_index_fresh(tmp_path: Path) -> None:
    folder = write_small(tmp_path, CHANGES)
    rows = [{"id": "a", "text": prose(1)}]
    write_raw(folder, "books/one.jsonl", rows)
    corpus = opened(folder)
    drive(corpus, corpus.graph.select([f"+{NAME}"]))
    write_raw(folder, "books/one.jsonl", [{**rows[0], "id": "b"}])
    corpus = opened(folder)
    done = drive(corpus, corpus.graph.select([f"+{NAME}"]))
    assert done.of(READ) == {"books--one"}
    assert done.of(NAME) == set()


def test_the_viewer_shows_the_words_around_a_phrase(built: Path) -> None:
    client = TestClient(standing_alone(built / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")
    text = next(held for one, held in texts(built) if one.id == "long-4")
    shown = html.unescape(client.get("/corpus/search", params={"q": text[3000:3040]}).text)
    (before, piece, after) = re.findall(
        r'class="text small"[^>]*>(.*?)<mark>(.*?)</mark>(.*?)</div>', shown, re.DOTALL
    )[0]
    assert (before, piece, after) == (text[2880:3000], text[3000:3040], text[3040:3160])


def test_two_lines_at_most_stand_before_a_phrase(tmp_path: Path) -> None:
    folder = write_small(tmp_path)
    lines = [f"line {number} {prose(number, 4)}" for number in range(30)]
    write_raw(folder, "books/one.jsonl", [{"id": "lines", "text": "\n".join(lines)}])
    corpus = opened(folder)
    drive(corpus, corpus.graph.select([f"+{READ}"]))
    client = TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")
    shown = html.unescape(client.get("/corpus/search", params={"q": lines[20]}).text)
    (before,) = re.findall(r'class="text small"[^>]*>(.*?)<mark>', shown, re.DOTALL)
    assert before == f"{lines[19]}\n"
