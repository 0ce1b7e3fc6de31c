"""The pages on what changed, and on what would be computed with other values."""

import html
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus_assets.diff.history import keep
from corpus_assets.diff.opened import of_corpus
from corpus_assets.orchestration.building.build import build
from corpus_assets.viewer.app import standing_alone
from corpus_assets.viewer.changes.what_if import require_harmless
from corpus_assets.viewer.query import RefusedError
from tests.build.small import opened
from tests.orchestration.silent import Silent
from tests.viewer.states import configured


def client(folder: Path) -> TestClient:
    return TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")


def words(answer: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer)).split())


def stored(folder: Path) -> dict[str, tuple[int, int]]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file): (file.stat().st_mtime_ns, file.stat().st_size) for file in files}


def test_what_changed_since_the_build_before_is_shown(built_once: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    shutil.copytree(built_once, folder)
    before = words(client(folder).get("/corpus/changes").text)
    built = opened(folder)
    keep(built.storage, of_corpus(built).numbers, datetime(2026, 3, 1, tzinfo=UTC))
    configured(folder, short_documents={"threshold": 300})
    build(opened(folder), list(opened(folder).graph), Silent())
    pages = client(folder)
    now = pages.get("/corpus/changes")
    assert "nothing changed since builds began to keep their numbers" in before
    assert "short_documents.threshold 60 300" in words(now.text)
    assert words(now.text).count("2026-03-01 00:00:00 UTC") == 2
    since = pages.get("/corpus/changes", params={"since": "2026-03-01T00:00:00"})
    assert "short_documents.threshold 60 300" in words(since.text)
    assert pages.get("/corpus/changes", params={"since": "1999-01-01T00:00:00"}).status_code == 400


def test_what_if_plans_with_other_values_and_writes_nothing(built_once: Path) -> None:
    before, pages = stored(built_once), client(built_once)
    changed = words(pages.get("/corpus/what-if", params={"set": "short_documents.threshold=90"}).text)
    assert "Will be computed" in changed
    assert "short_documents.threshold 60 -> 90" in changed
    same = words(pages.get("/corpus/what-if", params={"set": "short_documents.threshold=60"}).text)
    assert "a build has nothing to do" in same
    two = pages.get("/corpus/what-if", params={"set": "mix.chunks=2\n\nsplit.holdout=0.5"}).text
    assert "mix.chunks 3 -> 2" in words(two)
    assert stored(built_once) == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("split.holdout=5", "holdout"),
        ("split.nothing=5", "nothing"),
        ("sources.nothing.epochs=2", "nothing"),
        ("mix", "valid is KEY=VALUE"),
    ],
)
def test_what_if_says_what_is_wrong_with_a_value(built_once: Path, change: str, said: str) -> None:
    answer = client(built_once).get("/corpus/what-if", params={"set": change})
    assert answer.status_code == 200
    assert "It cannot be planned" in answer.text
    assert said in words(answer.text)


@pytest.mark.parametrize(
    "change",
    [
        "storage.root=elsewhere",
        "stages=[mine]",
        "taggers=[mine]",
        "engine.kind=ray",
        "sources.books.location=elsewhere",
        "sources=[{name: a, location: b}]",
        "mix.chunks=/etc/passwd",
        "split.holdout=${HOME}",
        "tokenizer.path=t.json",
        "datasets.train.input=holdout",
        "normalize.method=http://a",
        "split.holdout={count: 3}",
        "filter.include=[.text]\nown.a=1",
    ],
)
def test_what_if_takes_no_value_that_names_a_place(built_once: Path, change: str) -> None:
    answer = client(built_once).get("/corpus/what-if", params={"set": change})
    assert answer.status_code == 400
    assert "corpus plan --set" in answer.text
    with pytest.raises(RefusedError):
        require_harmless(change.splitlines())
