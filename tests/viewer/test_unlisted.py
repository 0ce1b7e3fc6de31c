"""A corpus whose raw files lie on a hub that does not answer: what is stored is shown, and every page says so."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus_assets.viewer.app import standing_alone
from corpus_assets.viewer.opened import View
from resources.planning.planner import Status
from resources.raw_places import connection, hub, remote
from tests.build.small import drive, opened, prose, write_config
from tests.hub_server import REPOSITORY, Hub, hub_of

LINES = "".join(json.dumps({"id": f"w{n}", "text": prose(n)}) + "\n" for n in range(30)).encode()
SOURCES = [{"name": "web", "location": f"hf://datasets/{REPOSITORY}@main/data"}]


@pytest.fixture
def on_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The hub, and a corpus of its files in the test's folder."""
    monkeypatch.setattr(remote, "PAUSE", 0.001)
    monkeypatch.setattr(connection, "BACKOFF", 0.001)
    hub._tree.cache_clear()
    write_config(tmp_path, {"sources": SOURCES})
    with hub_of(tmp_path / "hub", monkeypatch) as found:
        found.commit({"data/deep/a.jsonl": LINES, "data/b.jsonl": LINES.replace(b'"w', b'"v')})
        yield found


def pages(folder: Path) -> TestClient:
    return TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")


def test_a_built_corpus_is_shown(tmp_path: Path, on_hub: Hub) -> None:
    assert drive(opened(tmp_path)).failed == []
    on_hub.status = 503
    client = pages(tmp_path)
    for page in ("", "plan", "documents/normalized_documents/web--deep--a?row=3", "assets/raw_source"):
        answer = client.get(f"/corpus/{page}")
        assert answer.status_code == 200, page
        assert "raw files are taken to be as the last build saw them" in answer.text, page
    plan = View(tmp_path / "corpus.yaml").planner().plan()
    waiting = {decision.asset for decision in plan.decisions if decision.status is not Status.FRESH}
    assert waiting == {"report"}, "`drive` leaves it out"
    assert prose(3) in client.get("/corpus/documents/normalized_documents/web--deep--a?row=3").text


def test_a_corpus_of_which_nothing_is_built_says_why_in_a_sentence(tmp_path: Path, on_hub: Hub) -> None:
    on_hub.status = 503
    answer = pages(tmp_path).get("/corpus/")
    assert answer.status_code == 503
    assert "sources.web.location" in answer.text
