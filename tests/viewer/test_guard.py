"""What the viewer refuses: other names, other methods, addresses that lead out of the ledger, numbers without end."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from corpus_assets.viewer import guard, reading, report
from corpus_assets.viewer.app import standing_alone
from corpus_assets.viewer.guard import POLICY, Guard
from corpus_assets.viewer.query import Query, RefusedError
from resources.ledger.records import FileRecord
from resources.storage.local.store import LocalStorage

PLACES = ("/corpus/", "/corpus/assets/raw_source", "/corpus/static/corpus.css", "/corpus/nothing", "/nothing", "/")


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:1", "10.0.0.1", ""])
def test_another_name_is_refused(pages: TestClient, path: str, host: str) -> None:
    answer = pages.get(path, headers={"host": host}, follow_redirects=False)
    assert answer.status_code == 421
    assert "machine" in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:3001", "localhost", "LOCALHOST:3001", "[::1]:3001", "127.0.0.9"])
def test_names_of_this_machine_are_answered(pages: TestClient, host: str) -> None:
    assert pages.get("/corpus/static/corpus.css", headers={"host": host}).status_code == 200


def test_a_server_for_others_answers_addresses_and_its_own_name(built_once: Path) -> None:
    guard = Guard(standing_alone(built_once / "corpus.yaml", "0.0.0.0"), "0.0.0.0")
    assert guard.knows("10.0.0.7:3001")
    assert not guard.knows("evil.example")
    assert Guard(guard, "corpus.lan").knows("corpus.lan:80")


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_only_reading_is_allowed(pages: TestClient, method: str, path: str) -> None:
    answer = pages.request(method, path, follow_redirects=False)
    assert answer.status_code == 405


@pytest.mark.parametrize("path", PLACES)
def test_every_answer_has_the_headers(pages: TestClient, path: str) -> None:
    headers = pages.get(path, follow_redirects=False).headers
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/corpus/assets/raw_source/..%2f..%2f..%2fcorpus.yaml",
        "/corpus/assets/normalized_documents/%2e%2e/raw_source/books--one",
        "/corpus/assets/..%2fledger/x",
        "/corpus/documents/normalized_documents/..%2F..%2F..%2Fcorpus.yaml?row=0",
        "/corpus/documents/normalized_documents/%2Fetc%2Fpasswd?row=0",
        "/corpus/documents/normalized_documents/books--one%00?row=0",
        "/corpus/static/..%2fpages.py",
        "/corpus/static/%2e%2e/pages.py",
        "/corpus/tokens/train?file=..%2f..%2fcorpus.yaml",
    ],
)
def test_no_address_leads_out_of_the_ledger(pages: TestClient, path: str) -> None:
    answer = pages.get(path)
    assert answer.status_code in {400, 404}
    assert "sources" not in answer.text
    assert "root:" not in answer.text


@pytest.mark.parametrize("value", ["9" * 30, "-1", "1e9", "0x10", "١", "1.5", "NaN", "1" * 9000, "%00", "<script>"])
def test_numbers_have_limits(pages: TestClient, value: str) -> None:
    for path in ("documents/normalized_documents/books--one?row=", "assets/normalized_documents?from="):
        answer = pages.get(f"/corpus/{path}{value}")
        assert answer.status_code in {400, 414}
        assert "<script>" not in answer.text


def test_texts_have_limits(pages: TestClient) -> None:
    assert pages.get(f"/corpus/assets/normalized_documents?find={'x' * 501}").status_code == 400
    assert pages.get(f"/corpus/assets/normalized_documents?find={'x' * 500}").status_code == 200
    for length, status in ((guard.MOST_QUERY, 200), (guard.MOST_QUERY + 1, 414)):
        assert pages.get(f"/corpus/?x={'x' * (length - 2)}").status_code == status


def test_files_that_are_shown_have_limits(
    pages: TestClient, built_once: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (page,) = (built_once / "corpus").rglob("index.html")
    for length, status in ((page.stat().st_size, 200), (page.stat().st_size - 1, 404)):
        monkeypatch.setattr(report, "MOST_BYTES", length)
        assert pages.get("/corpus/report").status_code == status
    (tmp_path / "a.json").write_bytes(b'{"a": 1}')
    storage = LocalStorage(tmp_path, sync=False)
    for length, shown in ((8, '{\n  "a": 1\n}'), (7, "8 bytes of JSON, too many for a page")):
        monkeypatch.setattr(reading, "MOST_JSON", length)
        assert reading.json_text(storage, FileRecord("a.json", 8, "")) == shown


@given(st.text())
def test_a_number_is_read_or_refused(text: str) -> None:
    try:
        found = Query({"row": text}).number("row", high=100)
    except RefusedError as refusal:
        assert refusal.status == 400
    else:
        assert 0 <= found <= 100
