"""Every page of the viewer and every command that only reads, in every state that a corpus may be in.

The pages come from the table of addresses and the commands from the command line, so that a new one is looked at too.
With `CORPUS_SCREENSHOTS` a folder, `test_all_pages_fit_a_browser_without_a_fault` keeps a picture of each page in each
state there.
"""

import html
import os
import re
import shutil
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import typer.main
from starlette.testclient import TestClient
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.viewer.app import PAGES, standing_alone
from resources.errors import CorpusError
from tests.build.small import opened
from tests.viewer.browser import chromium, find_chromium
from tests.viewer.served import served
from tests.viewer.states import STATES

UNLIKE_TO_ESTIMATE = ("fresh", "failed", "another builder", "of another", "empty source", "without files")
"""States that an estimate can tell: it builds samples of the raw files elsewhere, and reads nothing of the store."""
LINKS = re.compile(r'href="([^"#]+)')
CLICKS, OF_A_KIND = 2, 4
"""How many links away from a page of its own a page is looked at, and how many are that differ in values only."""
WIDTHS = (1600, 400)
WRITES = {"build", "clean", "copy", "init", "sample", "import", "megatron-cache", "publish", "pull", "audit"}
SERVES = {"view", "ui"}
COMMANDS: dict[str, list[list[str]]] = {
    "plan": [[], ["--all"], ["--json"]],
    "config": [[], ["--changed"], ["--json"]],
    "estimate": [],  # It builds samples elsewhere, which takes seconds: see below.
    "verify": [[], ["--deep"], ["--json"]],
    "show": [["normalized_documents", "books--one"], ["train_tokens", "chunk-0000", "--row", "1"], ["tokenizer"]],
    "packing": [["train"]],
    "weights": [["train"], ["none"]],
    "classifier": [["none"]],
    "trace": [["train", "0", "3"]],
    "why": [["books-one-0"]],
    "diff": [[".", "."]],
    "tokens": [[], ["--json"]],
    "sql": [[]],
    "check-windows": [["corpus/nothing.jsonl"]],
    "doctor": [[]],
    "docs": [[], ["stores"]],
}


@pytest.fixture(params=STATES)
def state(request: pytest.FixtureRequest, built_once: Path, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The name of a state, and a corpus that is in it."""
    folder = tmp_path / "work"
    shutil.copytree(built_once, folder)
    with STATES[request.param].make(folder):
        yield request.param, folder


def client(folder: Path) -> TestClient:
    return TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")


def addresses(corpus: Corpus) -> Iterator[str]:
    """Yields an address of each page for each thing of the corpus that it may be asked of."""
    planner = corpus.planner()
    partitions = [(stage.name, key) for stage in corpus.graph for key in planner.decisions(stage) if key]
    shards = [key for name, key in partitions if name == "duplicates"]
    values = {
        "{asset}/{partition:path}": [f"{name}/{quote(key)}" for name, key in partitions],
        "{asset}": list(corpus.graph.stages),
        "{shard:path}": [quote(shard) for shard in shards],
        "{benchmark}": [benchmark.name for benchmark in corpus.config.benchmarks],
        "{dataset}": [dataset.name for dataset in corpus.config.datasets],
    }
    for path, _ in PAGES:
        holes = re.findall(r"\{.*\}", path)
        for value in values[holes[0]] if holes else [""]:
            yield f"/corpus{path.replace(holes[0], value) if holes else path}"


def test_all_pages_are_there_in_each_state(state: tuple[str, Path]) -> None:
    name, folder = state
    pages, corpus = client(folder), opened(folder)
    waiting = deque([*addresses(corpus), "/corpus/search?q=books", "/corpus/why?q=books-one-0"])
    clicks, linked = dict.fromkeys(waiting, 0), Counter[str]()
    while waiting:
        address = waiting.popleft()
        answer = pages.get(address)
        said = address, answer.text[-600:]
        assert answer.status_code == 200 or _names_nothing(address, answer.status_code, name), said
        assert "Traceback" not in answer.text
        if answer.headers["content-type"].startswith("text/html"):
            found = {html.unescape(link) for link in LINKS.findall(answer.text)} - {"data:,"} - clicks.keys()
            clicks |= dict.fromkeys(found, clicks[address] + 1)
            for link in sorted(link for link in found if clicks[link] <= CLICKS):
                linked[_kind(link)] += 1
                if linked[_kind(link)] <= OF_A_KIND:
                    waiting.append(link)
    assert STATES[name].overview in pages.get("/corpus/").text


def _kind(link: str) -> str:
    """Returns which page a link leads to, and what it asks of it, without values."""
    path, _, query = link.partition("?")
    return " ".join([*path.split("/")[:3], *(part.partition("=")[0] for part in query.split("&"))])


def _names_nothing(address: str, status: int, state: str) -> bool:
    """Returns whether an address asks for a row where no documents are, or for the way of one not known here."""
    known = state not in ("damaged record", "of another")
    rows = "/corpus/documents/", "/corpus/duplicates/", *(() if known else ("/corpus/why?",))
    return status == 404 and address.startswith(rows)


def test_the_commands_are_all_of_the_command_line() -> None:
    group = typer.main.get_command(app)
    assert set(group.commands) == {*COMMANDS, *WRITES, *SERVES}  # type: ignore[attr-defined]


def test_all_commands_say_something_in_each_state(state: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    name, folder = state
    monkeypatch.chdir(folder)
    before = _stored(folder)
    for command, variants in COMMANDS.items():
        for arguments in variants:
            done = CliRunner().invoke(app, [command, *arguments])
            fault = None if isinstance(done.exception, SystemExit) else done.exception
            assert fault is None or isinstance(fault, CorpusError | OSError), (command, arguments, fault)
            assert done.output.strip() or str(fault or ""), (command, arguments)
            assert "Traceback" not in done.output
            if command == "plan" and not arguments:
                assert STATES[name].plan in " ".join((done.output + str(fault or "")).split())
    assert _stored(folder) == before


@pytest.mark.slow
@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("state", UNLIKE_TO_ESTIMATE, indirect=True)
def test_an_estimate_says_something_in_each_state(state: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _, folder = state
    monkeypatch.chdir(folder)
    before = _stored(folder)
    done = CliRunner().invoke(app, ["estimate", "--seconds", "5"])
    assert isinstance(done.exception, CorpusError | SystemExit | None)
    assert done.output.strip() or str(done.exception or "")
    assert _stored(folder) == before


def _stored(folder: Path) -> dict[str, int]:
    """Returns the files of the store with their sizes; not what says who works on it."""
    root = folder / "corpus"
    files = (file for file in root.rglob("*") if file.is_file() and "ledger" in file.parts)
    return {str(file.relative_to(root)): file.stat().st_size for file in files}


@pytest.mark.slow
@pytest.mark.sampled(every=3)  # Every state is asked for all pages above.
@pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (Debian package: chromium)")
def test_all_pages_fit_a_browser_without_a_fault(state: tuple[str, Path], tmp_path: Path) -> None:
    name, folder = state
    corpus = opened(folder)
    wanted = os.environ.get("CORPUS_SCREENSHOTS")
    kept = Path(wanted or tmp_path) / name.replace(" ", "-")
    kept.mkdir(parents=True)
    first: dict[str, str] = {}
    for address in addresses(corpus):
        parts = address.split("/")
        first.setdefault(f"{parts[2]} {min(len(parts), 5)}", address)
    with served(folder) as base, chromium(tmp_path / "profile") as browser:
        for width in WIDTHS:
            browser.resize(width)
            for number, address in enumerate(first.values()):
                browser.open(f"{base}{address}")
                name = address.strip("/").replace("/", "-")[:60]
                if wanted:
                    browser.screenshot(kept / f"{number:02}-{name}-{width}.png")
                assert browser.too_wide() <= 0, (address, width)
        assert len(first) >= 10
        assert [fault for fault in browser.faults if " 404 " not in f" {fault} "] == []
