"""The pages say what is so: generated ones are current, and what they tell a reader to type works."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from corpus_assets.corpus import Corpus
from corpus_assets.raw.sample import write_sample
from docs.generate import FOLDER, PAGES

ROOT = FOLDER.parent
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize("name", PAGES)
def test_generated_page_is_current(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"


@pytest.mark.parametrize("page", [ROOT / "README.md", *FOLDER.glob("*.md")], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_make_targets_in_the_docs_exist() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *FOLDER.glob("*.md")])
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE)) <= targets


def shell_lines(page: Path) -> list[str]:
    """Commands of the `sh` blocks of a page, without `make`, which sets up the machine."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("make ")]


@pytest.mark.slow
def test_the_tour_runs(tmp_path: Path) -> None:
    for name in ("corpus.yaml", "dagster.yaml", "workspace.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    write_sample(tmp_path / "data" / "raw", megabytes=1)
    environment = {**os.environ, "PATH": PATH, "DAGSTER_HOME": str(tmp_path / ".dagster_home")}
    environment.pop("CORPUS_CONFIG", None)
    commands = shell_lines(ROOT / "README.md")
    assert len(commands) > 10
    for command in ["corpus build", *commands]:
        run = ["bash", "-c", command]
        done = subprocess.run(run, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_own_stage_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (FOLDER / "own-stage.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "my_stages.py").write_text(code)
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "a.jsonl").write_text('{"id": "1", "text": "ALL of it"}\n{"id": "2", "text": "quiet"}\n')
    (setting,) = re.findall(r"```yaml\n(stages:.*?)```", page, re.DOTALL)
    (tmp_path / "corpus.yaml").write_text(f"{setting}\nsources: [{{name: a, location: raw}}]\nengine: {{workers: 1}}\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    corpus = Corpus.open(tmp_path / "corpus.yaml")
    for name in ("inventory", "raw_source", "normalized_documents", "shouting"):
        pending = corpus.pending(corpus.graph[name])
        pending.drive()
        assert pending.failures() == []
    record = corpus.ledger.read("shouting", "a--a")
    assert record is not None and record.files[0].rows == 2
    corpus.engine.close()
