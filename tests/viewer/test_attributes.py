"""Spans of attributes are marked in the text that they count in, and in no other."""

import html
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.viewer.app import standing_alone
from resources.formats.attributes import attribute_rows
from resources.stage.partition import Partition
from tests.build.small import drive, opened, prose, write_config, write_raw, write_small
from tests.viewer.test_pages import links

KEY, MAILS = "books--mails", "private__pii_regex_v1__EMAIL_ADDRESS"
PRIVATE = {"name": "private", "taggers": ["pii_regex_v1"]}


def replaced() -> dict[str, Any]:
    return {"span_replacement": [{"span": "private.pii_regex_v1.EMAIL_ADDRESS", "replacement": "[gone]"}]}


def rows() -> list[dict[str, str]]:
    """Documents of which some have an address, one goes, and two have one id."""
    mail = "reader.of.many.long.books@post.example"
    return [
        {"id": "short", "text": "gone"},
        {"id": "clean", "text": prose("clean")},
        {"id": "twice", "text": f"{prose('first')} Write to {mail} today. {prose('end')}"},
        {"id": "twice", "text": f"{prose('second')} {prose('more')} Or {mail} and {mail} again. {prose('last')}"},
        {"id": "mail", "text": f"Write to {mail} now. {prose('mail')}"},
    ]


def configure(folder: Path, **changes: Any) -> Corpus:
    filters, stream = {**replaced(), "min_text_length": 20}, {"name": "out", "attributes": ["private"], **replaced()}
    values = {"attributes": [PRIVATE], "filter": filters, "streams": [stream], "datasets": [], **changes}
    write_config(folder, values)
    return opened(folder)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("spans"))
    write_raw(folder, "books/mails.jsonl", rows())
    corpus = configure(folder)
    done = drive(corpus, corpus.graph.select(["+duplicates", "+out_stream_documents"]))
    assert (done.failed, done.waiting) == ([], [])
    return folder


@pytest.fixture(scope="module")
def client(built: Path) -> TestClient:
    return TestClient(standing_alone(built / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")


def partition(folder: Path, asset: str) -> Partition:
    corpus = opened(folder)
    record = corpus.ledger.read(asset, KEY)
    assert record is not None
    return Partition(corpus.storage, record)


def spans(folder: Path) -> list[list[str]]:
    """The pieces of each normalized text that are addresses, as the stored attribute has them."""
    documents = partition(folder, "normalized_documents").documents()
    stored = attribute_rows(partition(folder, "private_attributes").lines())
    return [
        [document.text[first:last] for first, last, _ in row.attributes.get(MAILS, [])]
        for document, row in zip(documents, stored, strict=True)
    ]


def marked(content: str) -> list[str]:
    return [html.unescape(one) for one in re.findall(r"<mark[^>]*>(.*?)</mark>", content, re.DOTALL)]


def shown(client: TestClient, asset: str, row: int, **more: str) -> str:
    answer = client.get(f"/corpus/documents/{asset}/{KEY}", params={"row": row, **more})
    assert answer.status_code == 200
    return answer.text


def leads_to(page: str) -> str:
    """The address of the text that the addresses are marked in."""
    (found,) = {link for link in links(page) if link.startswith("/corpus/documents/normalized") and MAILS in link}
    return found


def test_addresses_are_marked_in_the_text_that_has_them(client: TestClient, built: Path) -> None:
    wanted = spans(built)
    assert [len(one) for one in wanted] == [0, 0, 1, 2, 1]
    for row, pieces in enumerate(wanted):
        assert marked(shown(client, "normalized_documents", row, spans=MAILS)) == pieces


@pytest.mark.parametrize("asset", ["filtered_documents", "out_stream_documents"])
def test_in_a_text_that_was_changed_they_are_not_marked_and_lead_to_the_one_that_has_them(
    client: TestClient, built: Path, asset: str
) -> None:
    changed = 0
    kept = [one for one in enumerate(spans(built)) if asset != "filtered_documents" or one[0] != 0]
    for row, (number, pieces) in enumerate(kept):
        page = shown(client, asset, row, spans=MAILS)
        assert marked(page) == marked(shown(client, asset, row)) == []
        if not pieces:
            continue
        changed += 1
        assert "[gone]" in page
        assert "are not marked here: they count in the text of normalized_documents, which is another" in page
        there = leads_to(page)
        if asset == "filtered_documents":
            assert f"row={number}&" in there
            assert marked(client.get(there).text) == pieces
        else:  # A stream names only the id, which several may have.
            assert marked(client.get(there).text) in wanted_of(built, number)
    assert changed == 3


def wanted_of(folder: Path, number: int) -> Iterator[list[str]]:
    """The pieces of all documents with the id of one."""
    ids = [row["id"] for row in rows()]
    return (pieces for pieces, name in zip(spans(folder), ids, strict=True) if name == ids[number])


def test_a_row_of_an_attribute_leads_to_its_text_and_claims_no_length(client: TestClient, built: Path) -> None:
    page = shown(client, "private_attributes", 2)
    assert marked(client.get(leads_to(page)).text) == spans(built)[2]
    for line in page.split("<tr>"):
        assert ("whole text" in line) == ("pii_regex_v1__doc" in line)


def test_spans_of_texts_that_are_there_no_longer_are_not_marked(built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(built, folder)
    others = [{**row, "text": f"A new beginning. {row['text']}"} for row in rows()]
    write_raw(folder, "books/mails.jsonl", others)
    corpus = configure(folder)
    assert not drive(corpus, corpus.graph.select(["+normalized_documents"])).failed
    client = TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")
    page = shown(client, "normalized_documents", 4, spans=MAILS)
    assert marked(page) == []
    assert "they count in a text that normalized_documents had before: the attribute is not fresh" in page
