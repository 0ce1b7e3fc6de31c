"""The tutorial: every block runs, in order, against a stand-in of the hub; and what it says of the commands is so.

With `CORPUS_PICTURES` a folder, its pictures are kept there.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from corpus_assets.config.reading.loading import load_config
from docs.generate import FOLDER
from tests import hub_server
from tests.docs.encyclopedia import FILE, REPOSITORY, parquet_file
from tests.forked import path_of_commands
from tests.hub_server import hub_of
from tests.viewer.browser import chromium
from tests.viewer.served import served

PAGE = (FOLDER / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
WIDTH = 1100
SHOWN = [
    ("overview", "", None),
    ("document", "documents/normalized_documents/wiki--train-00000-of-00001?row=1", None),
    ("duplicates", "duplicates", "main a[href*='duplicates/']"),
]
"""Name and page of each picture, and which link of the page leads to what is shown."""
VIEW = re.compile(r"^corpus view.*$", re.MULTILINE)


class Reader:
    """Somebody who follows the page in a folder: writes what it shows, runs what it says."""

    def __init__(self, folder: Path, hub: str) -> None:
        self.folder = folder
        self._environment = {**os.environ, "PATH": path_of_commands(), "HF_ENDPOINT": hub, "COLUMNS": "120"}
        for name in ("CORPUS_CONFIG", "DAGSTER_HOME"):
            self._environment.pop(name, None)

    def add(self, lines: str) -> None:
        with (self.folder / "corpus.yaml").open("a", encoding="utf-8") as file:
            file.write(lines)

    def run(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-ec", command],
            check=False,
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout + done.stderr


def take_pictures(folder: Path, pictures: Path) -> None:
    """Pictures of the pages that the tutorial shows."""
    pictures.mkdir(parents=True, exist_ok=True)
    with served(folder / "wiki") as base, chromium(folder / "profile") as browser:
        browser.resize(WIDTH)
        for name, page, follow in SHOWN:
            browser.open(f"{base}/corpus/{page}")
            if follow:
                browser.open(str(browser.evaluate(f"document.querySelector({follow!r}).href")))
            browser.screenshot(pictures / f"tutorial-{name}.png")


@pytest.mark.slow
def test_every_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_server, "REPOSITORY", REPOSITORY)
    (tmp_path / "wiki").mkdir()
    with hub_of(tmp_path / "hub", monkeypatch) as hub:
        hub.commit({FILE: parquet_file(tmp_path / "sample")})
        reader, said = Reader(tmp_path / "wiki", hub.url), []
        for language, block in BLOCKS:
            if language == "yaml":
                reader.add(block)
            else:
                said.append(reader.run(VIEW.sub("", block)))
        if found := os.environ.get("CORPUS_PICTURES"):
            take_pictures(tmp_path, Path(found))
    assert len(said) == 10, "a block was added: say here what it prints"
    first, sample, _, filtered, whole, duplicates, why, files, asked, changed = said
    assert "missing" in first
    assert "corpus-sample-10-percent/corpus.yaml" in sample
    assert "quality.gopher_v2.word_count" in filtered
    assert "megatron" in whole
    assert "duplicate" in duplicates
    assert "20231101.simple/train-00000-of-00001.parquet, row 0" in why
    assert "chunk-0000_text_document.bin" in files
    assert "verified_pairs" in asked
    assert not re.search(r"normalized_documents|filtered_documents|minhashes", asked)
    assert "dedup.threshold" in changed
    assert "0 missing, 0 stale" in changed
    assert load_config(tmp_path / "wiki" / "corpus.yaml").name == "simple-wiki"
