"""A corpus of secrets: a build, every command and every page, of which nothing says or keeps any of them."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from starlette.testclient import TestClient

from corpus_assets.viewer.app import standing_alone
from tests.attributes.endpoint_server import Reply, endpoint, said
from tests.build.small import raw_rows, write_config, write_raw
from tests.faults.command import MAIN
from tests.house import TOP
from tests.hub_server import REPOSITORY, hub_of
from tests.orchestration.notice_server import Hook, receiving
from tests.ports import free_ports
from tests.secrets.planted import SECRETS, database_address, found_below, found_in, hook_address, planted_environment
from tests.web_server import Site
from tests.web_server import serving as web_serving

COMMANDS = (
    "plan",
    "build --json",
    "verify --deep",
    "config",
    "doctor",
    "show judge_attributes books--one",
    f"publish hf://datasets/{REPOSITORY}",
    f"pull hf://datasets/{REPOSITORY} pulled",
    "copy copied",
)
BROKEN = {"plan": False, "build": True, "doctor": True}
"""Commands, and whether Dagster's database is named in the environment too."""
MOST_PAGES = 60


@dataclass
class Planted:
    """A folder with a corpus. said: what commands and processes said and showed, without what they read."""

    folder: Path
    environment: dict[str, str]
    said: str
    processes: set[str]
    hook: Hook
    tokens: set[str | None]
    queries: list[str]
    published: Path


@contextmanager
def watching(found: set[str]) -> Iterator[None]:
    """Adds the command line of every process below this one, while the block runs."""
    over, here = threading.Event(), psutil.Process()

    def look() -> None:
        while not over.wait(0.02):
            with suppress(psutil.Error):
                for process in here.children(recursive=True):
                    with suppress(psutil.Error):
                        found.add(" ".join(process.cmdline()))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def commanded(folder: Path, command: str, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", MAIN, *command.split()],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )


def configured(folder: Path, site: Site, judge: str) -> None:
    """Writes a corpus.yaml over a list of signed URLs, a private dataset of the hub and an endpoint."""
    asked = {"url": judge, "model": "m", "key_variable": "JUDGE_KEY", "prompt": "Rate: {text}", "wait": 0, "retries": 0}
    write_config(
        folder,
        {
            "sources.0.location": f"{site.url}/list.txt",
            "sources.1.location": f"hf://datasets/{REPOSITORY}@data",
            "card": {"licence": "CC-BY-4.0", "languages": ["en"]},
            "attributes": [
                {
                    "name": "judge",
                    "taggers": ["endpoint_score_v1"],
                    "options": {"endpoint_score_v1": {"endpoint": {**asked, "answers": "kept"}}},
                }
            ],
            "notices": [{"on": ["ended", "failed"], "webhook": "env:HOOK"}],
        },
    )


def ours() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("DAGSTER_HOME", "CORPUS_CONFIG")}
    return {**kept, "PYTHONPATH": str(TOP)}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    folder, served, hub_folder = (tmp_path_factory.mktemp(name) for name in ("corpus", "web", "hub"))
    rows = {name: value for name, value in raw_rows().items() if not name.startswith("notes")}
    signed = f"?X-Amz-Signature={SECRETS['query of a list']}"
    for name, some in rows.items():
        write_raw(folder, name, some)
    books = {file.name: file.read_bytes() for file in (folder / "raw/books").iterdir()}
    web = {f"web/{file.name}": file.read_bytes() for file in (folder / "raw/web").rglob("*.*") if file.is_file()}
    write_raw(folder, "notes/list.jsonl", raw_rows()["notes/list.jsonl"])
    for file in (*(folder / "raw/books").iterdir(), *(folder / "raw/web").rglob("*.*")):
        if file.is_file():
            file.unlink()
    for name, content in books.items():
        (served / name).write_bytes(content)
    (served / "list.txt").write_text("".join(f"{name}{signed}\n" for name in books))

    def reply(number: int, _: dict[str, Any]) -> Reply:
        return 200, said(f"Score: {number % 5}")

    with (
        pytest.MonkeyPatch.context() as patch,
        web_serving(served) as site,
        hub_of(hub_folder, patch) as hub,
        endpoint(reply) as judge,
        receiving() as hook,
    ):
        hub.commit(web, "data")
        hub.commit({".gitattributes": b"*.parquet filter=lfs\n"})
        hub.is_private = True
        environment = {
            **ours(),
            **planted_environment(),
            "HF_ENDPOINT": hub.url,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HOME": str(folder / "hub-cache"),
            "HOOK": hook_address(hook.url),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", str(Path.home() / ".cache/corpus-assets/numba")),
        }
        configured(folder, site, judge.url)
        heard, processes = "", set[str]()
        with watching(processes):
            for command in COMMANDS:
                done = commanded(folder, command, environment)
                assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
                heard += done.stdout + done.stderr
        yield Planted(folder, environment, heard, processes, hook, hub.tokens, site.queries, hub_folder)


def test_secrets_arrive_where_they_belong(planted: Planted) -> None:
    assert f"Bearer {SECRETS['hub token']}" in planted.tokens
    assert any(SECRETS["query of a list"] in query for query in planted.queries)
    assert any(SECRETS["hook path"] in one and SECRETS["hook query"] in one for one in planted.hook.asked)


def test_no_command_says_one(planted: Planted) -> None:
    assert len(planted.said) > 1000
    assert found_in(planted.said) == []


def test_nothing_published_holds_one(planted: Planted) -> None:
    assert len(list((planted.folder / "pulled").rglob("*.parquet"))) >= 1
    assert planted.published
    assert found_below(planted.published) == {}


def test_no_notice_says_one(planted: Planted) -> None:
    assert planted.hook.got
    assert found_in(json.dumps(planted.hook.got)) == []


def test_no_process_shows_one(planted: Planted) -> None:
    assert any("corpus_assets" in line for line in planted.processes)
    assert [line for line in planted.processes if found_in(line)] == []


def test_no_file_holds_one(planted: Planted) -> None:
    """Records, documents, reports, logs, Dagster's databases and every cache, also packed ones."""
    names = {file.suffix for file in planted.folder.rglob("*") if file.is_file()}
    assert {".json", ".db", ".html", ".gz", ".log"} <= names
    assert found_below(planted.folder) == {}


def test_no_page_of_the_viewer_shows_one(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in planted.environment.items():
        monkeypatch.setenv(name, value)
    client = TestClient(standing_alone(planted.folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")
    waiting, seen = ["/corpus/"], set[str]()
    while waiting and len(seen) < MOST_PAGES:
        address = waiting.pop(0)
        seen.add(address)
        answer = client.get(address)
        assert found_in(answer.content) + found_in(str(answer.headers)) == [], address
        links = re.findall(r'href="(/corpus/[^"#]*)', answer.text)
        waiting += [link for link in dict.fromkeys(links) if link not in seen and link not in waiting]
    assert len(seen) > 10


@pytest.mark.parametrize("command", BROKEN)
def test_no_failure_says_one(planted: Planted, command: str, tmp_path: Path) -> None:
    """A store, a hub, an endpoint and a database that are not there, behind a proxy that is not there."""
    config = yaml.safe_load((planted.folder / "corpus.yaml").read_text())
    config["storage"] = {"root": "s3://bucket/corpus", "s3": {"endpoint": "http://127.0.0.1:9", "addressing": "path"}}
    (tmp_path / "corpus.yaml").write_text(json.dumps(config))
    broken = {**planted.environment, "HF_ENDPOINT": "http://127.0.0.1:9", "NO_PROXY": "", "AWS_MAX_ATTEMPTS": "1"}
    if BROKEN[command]:
        broken["CORPUS_POSTGRES_URL"] = database_address(*free_ports(1))
    done = commanded(tmp_path, command, broken)
    assert done.returncode != 0 and done.stderr + done.stdout
    assert found_in(done.stdout + done.stderr) == []
    assert found_below(tmp_path) == {}


def test_a_partition_whose_server_fails_says_none(planted: Planted) -> None:
    """What fails in a worker reaches the log, the events of Dagster and the notice."""
    file = planted.folder / "corpus.yaml"
    config = yaml.safe_load(file.read_text())
    asked = config["attributes"][0]["options"]["endpoint_score_v1"]["endpoint"]
    asked |= {"prompt": "Another: {text}", "url": "http://127.0.0.1:9/v1"}
    file.write_text(json.dumps(config))
    done = commanded(planted.folder, "build", planted.environment)
    assert done.returncode != 0 and "judge_attributes" in done.stdout + done.stderr
    assert any(told["failed"] for told in planted.hook.got)
    assert found_in(done.stdout + done.stderr + json.dumps(planted.hook.got)) == []
    assert found_below(planted.folder) == {}
