"""`corpus diff`: with the past of the corpus, with another store, as text, JSON and a page."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.diff.history import keep
from corpus_assets.diff.opened import open_side
from tests.build.small import Work, drive, opened


def asked(work: Work, *arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["diff", *map(str, arguments), "--config", str(work.folder / "corpus.yaml")])
    return done.exit_code, done.output + str(done.exception or "")


def told(work: Work, *arguments: object) -> dict[str, Any]:
    code, printed = asked(work, *arguments, "--json")
    assert code == 0, printed
    found: dict[str, Any] = json.loads(printed)
    return found


def changed(work: Work) -> None:
    work.config(split__holdout=0.4)
    assert not drive(opened(work.folder)).failed


def test_without_arguments_it_compares_with_the_build_before(work: Work) -> None:
    code, printed = asked(work)
    assert code != 0
    assert "nothing changed since builds began to keep their numbers" in printed
    keep(opened(work.folder).storage, open_side(work.folder).numbers)
    assert "nothing changed since the build of 20" in asked(work)[1]
    changed(work)
    found = told(work)
    assert found["configuration"] == [{"key": "split.holdout", "what": "changed", "old": 0.2, "new": 0.4}]
    assert found["documents"] is None
    assert told(work, "--since", "2999-01-01")["splits"] == found["splits"]
    assert "no build up to then is kept" in asked(work, "--since", "2000-01-01")[1]
    assert "it takes no other store" in asked(work, work.folder, "--since", "2999-01-01")[1]


def test_two_stores_are_compared_in_words_and_as_a_page(work: Work, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(work.folder, old)
    changed(work)
    page = tmp_path / "page.html"
    code, printed = asked(work, old / "corpus", "--html", page)
    assert code == 0, printed
    assert "split.holdout" in printed
    assert f"the page is {page}" in printed
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "split.holdout" in text
    assert told(work, old, work.folder / "corpus")["splits"] == told(work, old)["splits"]
    code, printed = asked(work, work.folder, work.folder)
    assert (code, "nothing differs" in printed) == (0, True)


@pytest.mark.parametrize("asset", ["normalized_documents", "no_asset"])
def test_documents_of_another_asset_are_those_that_there_are(work: Work, asset: str) -> None:
    code, printed = asked(work, work.folder, work.folder, "--asset", asset)
    assert (code == 0) == (asset == "normalized_documents"), printed
    if code:
        assert "no asset 'no_asset' with documents" in printed
