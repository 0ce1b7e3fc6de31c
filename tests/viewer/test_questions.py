"""Search, ways, plan and configuration say what the functions behind them say; looks are renewed."""

import base64
import hashlib
import html
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from corpus_assets.tracing.from_tokens.rows import TooLongError
from corpus_assets.viewer.app import standing_alone
from corpus_assets.viewer.config import _shown, differences
from corpus_assets.viewer.documents import why
from corpus_assets.viewer.opened import Looks, View
from corpus_assets.viewer.report import policy
from resources.stage.partition import Partition
from tests.build.small import drive, opened, write_config, write_small


@pytest.fixture
def changed(built_once: Path, tmp_path: Path) -> TestClient:
    """The small corpus, with another holdout than it was built with."""
    folder = tmp_path / "changed"
    shutil.copytree(built_once, folder)
    write_config(folder, {"split.holdout": 0.3})
    return TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")


def found(pages: TestClient, **query: str) -> set[str]:
    page = pages.get("/corpus/search", params=query).text
    return set(re.findall(r'href="(/corpus/documents/[^"]+)"', page))


def test_a_document_is_found_by_id_digest_and_words(pages: TestClient, built_once: Path) -> None:
    corpus = opened(built_once)
    record = corpus.ledger.read("normalized_documents", "books--one")
    assert record is not None
    document = list(Partition(corpus.storage, record).documents())[4]
    address = "/corpus/documents/normalized_documents/books--one?row=4"
    words = " ".join(document.text.split()[3:8])
    for q in (document.id, document.id[:-1], hashlib.sha256(document.text.encode()).hexdigest(), words):
        assert address in found(pages, q=q)
        assert address in found(pages, q=q, source="books")
        assert not found(pages, q=q, source="web") & {address}
    assert found(pages, q="no such words anywhere") == set()
    assert len(found(pages, source="notes")) == 6


def test_a_search_refuses_what_it_cannot_use(pages: TestClient) -> None:
    assert pages.get("/corpus/search?source=nobody").status_code == 400
    assert pages.get("/corpus/search?q=x&cursor=../../etc").status_code in {400, 404}
    assert "<b>" not in pages.get("/corpus/search?q=<b>bold").text


def test_a_way_ends_where_the_document_was_dropped(pages: TestClient, built_once: Path) -> None:
    short = pages.get("/corpus/why?shard=books--one&number=1").text
    assert re.search(r"ended</span> in <strong>short_documents</strong>", short)
    duplicate = pages.get("/corpus/why?shard=books--two&number=0").text
    assert re.search(r"ended</span> in <strong>duplicates</strong>", duplicate)
    assert "that document" in duplicate
    by_row = pages.get("/corpus/why?shard=books--two&row=0").text
    assert by_row.split("<section>")[1] == duplicate.split("<section>")[1]


@pytest.mark.parametrize(
    "query",
    [
        "id=nobody",
        "shard=nothing&row=0",
        "shard=books--one&number=99",
        "dataset=nothing&file=x",
        "dataset=train&file=x",
    ],
)
def test_a_way_of_nothing_is_refused(pages: TestClient, query: str) -> None:
    assert pages.get(f"/corpus/why?{query}").status_code == 404


def test_a_way_says_of_which_datasets_it_does_not_know(pages: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "/corpus/why?shard=books--three&number="
    numbers = [n for n in range(6) if "reached</span>" in pages.get(f"{query}{n}&seconds=15").text]
    assert numbers
    monkeypatch.setattr(why, "QUICK", 0.0)
    for number in numbers:
        page = pages.get(f"{query}{number}").text
        assert "reached</span>" not in page
        (said,) = re.findall(r"not known</span> of <strong>(\w+)</strong>: ([^<]*)", page)
        assert said[0] in {"train", "validation"}
        assert "it was not searched for" in said[1]


def test_the_configuration_is_shown_beside_orphans(built_once: Path, tmp_path: Path) -> None:
    folder = tmp_path / "orphans"
    shutil.copytree(built_once, folder)
    (folder / "raw" / "books" / "one.jsonl").unlink()
    write_config(folder, {"split.holdout": 0.3})
    client = TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")
    answer = client.get("/corpus/config")
    assert answer.status_code == 200
    assert "split.holdout" in answer.text.split("Recorded, and set now")[1]


def _too_long(*_: Any, **__: Any) -> None:
    raise TooLongError("the time is over")


def test_the_document_of_a_token_is_looked_for_longer_when_that_is_asked_for(
    pages: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(why, "QUICK", 0.0)
    query = "dataset=validation&file=chunk-0001.h5&row=0&position=32"
    at_once = pages.get(f"/corpus/why?{query}")
    assert at_once.status_code == 200
    (longer,) = re.findall(r'href="([^"]*seconds=[^"]*)"', at_once.text)
    found = pages.get(html.unescape(longer))
    assert found.status_code == 200
    assert "<section>" in found.text
    monkeypatch.setattr(why, "trace_row", _too_long)
    refused = pages.get(f"/corpus/why?{query}&seconds=1")
    assert refused.status_code == 404
    assert "corpus trace validation chunk-0001.h5 0 32" in refused.text


def test_the_plan_and_the_configuration_say_what_changed(pages: TestClient, changed: TestClient) -> None:
    assert "split.holdout" not in pages.get("/corpus/plan").text
    assert "Recorded, and set now" not in pages.get("/corpus/config").text
    plan = html.unescape(changed.get("/corpus/plan").text)
    assert "split.holdout 0.2 -> 0.3" in plan
    assert plan.index("Will be computed") < plan.index("May change")
    config = changed.get("/corpus/config").text
    assert "Recorded, and set now" in config
    assert re.search(r"split\.holdout</td><td class=\"long\">0\.2</td><td class=\"long\">0\.3</td>", config)
    assert "are not fresh" in changed.get("/corpus/").text


def test_secrets_are_not_shown() -> None:
    assert _shown("storage.secret_access_key", "hidden") == "(not shown)"
    assert _shown("sources.books.text_key", "body") == "body"
    assert _shown("tokenizer.special_tokens", ["<s>"]) == '["<s>"]'


def test_a_wrong_configuration_is_said_and_a_mended_one_is_read(built_once: Path, tmp_path: Path) -> None:
    folder = tmp_path / "wrong"
    shutil.copytree(built_once, folder)
    client = TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")
    (folder / "corpus.yaml").write_text("sources: 3")
    answer = client.get("/corpus/")
    assert answer.status_code == 503
    assert "sources" in answer.text
    write_config(folder, {"name": "mended"})
    assert "The corpus mended" in client.get("/corpus/").text


def test_only_places_that_differ_are_listed() -> None:
    before = {"a": 1, "b": {"c": [1, 2], "d": 4}}
    after = {"a": 1, "b": {"c": [1, 3], "e": 5}}
    assert list(differences("x", before, after)) == [("x.b.c[1]", 2, 3), ("x.b.d", 4, None), ("x.b.e", None, 5)]
    assert list(differences("x", before, before)) == []


def test_a_view_leaves_the_store_as_it_was(built_once: Path, tmp_path: Path) -> None:
    folder = tmp_path / "quiet"
    shutil.copytree(built_once, folder)
    for snapshot in (folder / "corpus" / "ledger" / ".snapshots").glob("*"):
        snapshot.unlink()
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}
    client = TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")
    for address in ("", "plan", "config", "duplicates", "tokens/train", "search?q=a", "why?shard=books--one&number=0"):
        assert client.get(f"/corpus/{address}").status_code == 200
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()} == before


def test_looks_are_kept_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("corpus_assets.viewer.opened.time.monotonic", lambda: now[0])
    looks, made = Looks(), list[float]()

    def make() -> float:
        made.append(now[0])
        return now[0]

    assert [looks.get("x", make), looks.get("x", make)] == [100.0, 100.0]
    now[0] = 103.0
    assert looks.get("x", make) == 103.0
    assert made == [100.0, 103.0]


def test_the_policy_of_the_report_names_its_style_and_last_script() -> None:
    page = b"<style>a{}</style><p>&lt;script&gt;</p><script>one</script><script>two</script>"
    found = policy(page)
    assert found.count("sha256-") == 2
    digest = hashlib.sha256(b"two").digest()
    assert f"script-src 'sha256-{base64.b64encode(digest).decode()}'" in found
    assert "script-src" not in policy(b"<p>nothing</p>")


def test_a_view_has_every_record(built_once: Path) -> None:
    view = View(built_once / "corpus.yaml")
    for stage in view.corpus.graph:
        assert view.records(stage.name) == opened(built_once).ledger.records(stage.name)


def test_a_rule_is_called_as_in_the_configuration(tmp_path: Path) -> None:
    rule = "quality.gopher_v2.word_count"
    attributes = [{"name": "quality", "taggers": ["gopher_v2"]}]
    corpus = opened(write_small(tmp_path, {"attributes": attributes, "filter": {"rules": {rule: {"min": 100_000}}}}))
    assert not drive(corpus, corpus.graph.select(["+filtered_documents"])).failed
    pages = TestClient(standing_alone(tmp_path / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")
    for address in ("assets/filtered_documents/books--one", "why?shard=books--one&row=0"):
        shown = pages.get(f"/corpus/{address}").text
        assert rule in shown
        assert rule.replace("_", " ") not in shown
