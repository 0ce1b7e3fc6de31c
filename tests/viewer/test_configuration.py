"""The page of the configuration: first what differs from the defaults, and what a base of it changes."""

import html
import re
import shutil
from pathlib import Path

from starlette.testclient import TestClient

from corpus_assets.viewer.app import standing_alone
from tests.build.small import write_config


def client_of(built: Path, folder: Path) -> TestClient:
    shutil.copytree(built, folder)
    return TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")


def test_what_differs_comes_first_and_every_key_is_folded_away(built_once: Path, tmp_path: Path) -> None:
    page = html.unescape(client_of(built_once, tmp_path / "one").get("/corpus/config").text)
    first, rest = page.split('<details id="every-key">')
    assert "split.holdout" in first
    assert "sources.web.epochs" in first
    assert "split.seed" not in first
    assert "split.seed" in rest
    assert "given by" not in first
    assert re.search(r"split\.holdout</th><td class=\"long\">0\.2</td><td class=\"long\">0\.01</td>", first)


def test_the_default_of_a_size_is_a_size(built_once: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sizes"
    client = client_of(built_once, folder)
    write_config(folder, {"sources.0.largest_window": "256 MiB"})
    page = html.unescape(client.get("/corpus/config").text)
    assert re.search(r"largest_window</th><td class=\"long\">256 MiB</td><td class=\"long\">128 MiB</td>", page)


def test_a_change_of_the_base_is_seen_and_its_faults_too(built_once: Path, tmp_path: Path) -> None:
    folder = tmp_path / "extending"
    client = client_of(built_once, folder)
    base, variant = folder / "base.yaml", folder / "corpus.yaml"
    variant.rename(base)
    variant.write_text("extends: base.yaml\nsplit: {seed: 5}\n")
    for _ in range(2):  # The second request finds the view of the first.
        page = client.get("/corpus/config").text
        assert "base.yaml, line " in page
        assert "corpus.yaml, line 2" in page
    write_config(folder, {"name": "by-its-base"})
    variant.rename(base)
    variant.write_text("extends: base.yaml\nsplit: {seed: 5}\n")
    assert "by-its-base" in client.get("/corpus/").text
    base.write_text(base.read_text().replace("by-its-base", "by-its-new-base"))
    assert "by-its-new-base" in client.get("/corpus/").text
    base.unlink()
    answer = client.get("/corpus/")
    assert answer.status_code == 503
    assert "base.yaml: cannot be read" in html.unescape(answer.text)
    base.write_text("sources: 3\n")
    answer = client.get("/corpus/")
    assert answer.status_code == 503
    assert "base.yaml, line 1" in answer.text
