"""Benchmarks item by item, the card with its blanks, failures and drops on the first page, rows of all files."""

import html
import re
import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus_assets.orchestration.building.build import build
from corpus_assets.viewer.app import standing_alone
from corpus_assets.viewer.report import policy, with_way_back
from tests.build.small import drive, opened, prose, write_raw, write_small
from tests.contamination.planted import SUMS, configure, item, searched, write_items
from tests.orchestration.silent import Silent
from tests.viewer.test_changes import words


def client(folder: Path) -> TestClient:
    return TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")


def test_each_item_of_a_benchmark_leads_to_its_documents_with_the_pieces_marked(tmp_path: Path) -> None:
    write_small(tmp_path)
    write_items(tmp_path, "sums/a.jsonl", [{"id": f"sum {n}", "question": item(n), "answer": ""} for n in range(3)])
    write_items(tmp_path, "sums/b.jsonl", [{"id": "last", "question": item("last"), "answer": ""}])
    leak = [{"id": "leak", "text": f"{prose('before')} {item('last')} {prose('after')} {item(1)}"}]
    write_raw(tmp_path, "books/leak.jsonl", [*leak, {"id": "other", "text": f"{item(1)} {prose('other')}"}])
    searched(configure(tmp_path, [SUMS], datasets=[]))
    pages = client(tmp_path)
    assert 'href="/corpus/benchmarks/sums"' in pages.get("/corpus/benchmarks").text
    listed = pages.get("/corpus/benchmarks/sums").text
    assert "2 of 4 items have pieces in documents" in words(listed)
    one = pages.get("/corpus/benchmarks/sums", params={"item": 3}).text
    assert item("last") in html.unescape(one)
    (href,) = re.findall(r'<a href="(/corpus/documents/[^"]+)">leak</a>', one)
    marked = pages.get(html.unescape(href.partition("#")[0])).text
    assert "".join(re.findall(r"<mark[^>]*>([^<]*)</mark>", marked)).startswith(item("last")[:40])
    two = pages.get("/corpus/benchmarks/sums", params={"item": 1}).text
    assert len(re.findall(r'<a href="/corpus/documents/', two)) == 2
    assert pages.get("/corpus/benchmarks/sums", params={"item": 4}).status_code == 400
    assert pages.get("/corpus/benchmarks/none").status_code == 404


def test_the_card_is_shown_with_what_is_still_to_be_written(tmp_path: Path) -> None:
    write_small(tmp_path, {"card": {"description": "Made-up sentences."}, "datasets": []})
    corpus = opened(tmp_path)
    assert drive(corpus).failed == []
    record = opened(tmp_path).ledger.read("data_card", None)
    assert record is not None
    shown = words(client(tmp_path).get("/corpus/card").text)
    assert f"{record.statistics['to_be_written']} texts can only be written by a person" in shown
    assert "Made-up sentences." in shown
    assert str(record.statistics["still_missing"]).split(", ")[0] in shown


def test_a_corpus_without_benchmarks_and_card_says_how_to_have_them(built_once: Path) -> None:
    pages = client(built_once)
    assert "benchmarks in corpus.yaml" in words(pages.get("/corpus/benchmarks").text)
    assert "a section card in corpus.yaml" in words(pages.get("/corpus/card").text)


def test_the_first_page_names_failed_files_and_why(built_once: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    shutil.copytree(built_once, folder)
    (folder / "raw/books/two.jsonl.gz").write_bytes(b"\x1f\x8b no gzip")
    build(opened(folder), list(opened(folder).graph), Silent())
    pages = client(folder)
    shown = pages.get("/corpus/").text
    (row,) = re.findall(r'<a href="([^"]+)">normalized_documents/books--two</a></th><td class="long">([^<]+)', shown)
    assert "failed" in row[1]
    assert "books--two" in pages.get(html.unescape(row[0])).text
    assert "1 partition, which took" in words(pages.get("/corpus/plan").text)


def test_a_file_without_rows_says_so(built_once: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    shutil.copytree(built_once, folder)
    (folder / "raw/books/none.jsonl").touch()
    corpus = opened(folder)
    build(corpus, corpus.graph.select(["+normalized_documents"]), Silent())
    shown = words(client(folder).get("/corpus/assets/normalized_documents/books--none").text)
    assert "It holds no rows that can be shown." in shown


def test_each_reason_on_the_first_page_leads_to_the_documents_that_it_counts(built_once: Path) -> None:
    pages = client(built_once)
    shown = pages.get("/corpus/").text
    rows = re.findall(
        r'<a href="([^"]+fate=[^"]+)">(\w+)</a></th><td>mixed_pass1</td><td class="n" data-v="(\d+)">', shown
    )
    assert {name for _, name, _ in rows} == {"short", "duplicate"}
    for href, _, count in rows:
        listed = pages.get(html.unescape(href)).text
        assert listed.count('<article class="card">') == int(count)
    assert "Too short." in pages.get("/corpus/documents", params={"fate": "short"}).text


def test_rows_of_a_dataset_are_counted_over_all_files(built_once: Path) -> None:
    pages = client(built_once)
    first = pages.get("/corpus/tokens/train").text
    every = re.search(r"Row of ([\d,]+) in all files", first)
    files = re.findall(r"<option[^>]*>([^<]+\.h5)</option>", first)
    assert every and len(files) > 1
    last = int(every[1].replace(",", "")) - 1
    shown = pages.get("/corpus/tokens/train", params={"of_all": last}).text
    assert f"<option selected>{files[-1]}</option>" in shown
    assert f'name="of_all" inputmode="numeric" value="{last}"' in shown
    assert pages.get("/corpus/tokens/train", params={"of_all": last + 1}).status_code == 400


def test_the_report_leads_back_and_keeps_its_policy() -> None:
    body = b'<a class="skip" href="#main">To the content</a>\n<p>all</p>\n<script>1</script>'
    content = b"<html><head><style>p {}</style></head>\n<body>\n" + body + b"</body></html>"
    back = with_way_back(content)
    assert b'To the content</a>\n<nav aria-label="Viewer"><a href="/corpus/">' in back
    assert back.count(b'href="/corpus/"') == 1
    assert policy(with_way_back(content)) == policy(content)


@pytest.mark.parametrize("at", [0, 17])
def test_a_position_of_a_row_is_asked_for(built_once: Path, at: int) -> None:
    shown = client(built_once).get("/corpus/tokens/train", params={"at": at}).text
    first = re.search(r'<span class="t [^"]*" title="positions? (\d+)', shown)
    assert first and int(first[1]) == at
