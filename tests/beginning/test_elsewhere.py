"""Places on other machines: buckets, the hub and web servers, against stand-ins."""

import importlib.util
from pathlib import Path

import pytest

from resources.raw_places import connection, hub, remote
from resources.storage.s3.client import client
from tests.beginning.starts import begun, built, refused, rows, write_jsonl
from tests.hub_server import hub_of
from tests.object_store import ENVIRONMENT, moto
from tests.web_server import serving


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "local/books/a.jsonl", rows(5))
    write_jsonl(tmp_path / "local/web/2024/b.jsonl", [{"body": row["text"]} for row in rows(5)])
    return tmp_path / "local"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(remote, "PAUSE", 0.001)
    monkeypatch.setattr(connection, "BACKOFF", 0.001)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    hub._tree.cache_clear()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_bucket(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("moto") is None:
        pytest.skip("moto is not installed (extra s3-server)")
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with moto(tmp_path / "server") as server:
        for path, content in contents(raw).items():
            client(server.settings).put_object(Bucket=server.bucket, Key=f"given/{path}", Body=content)
        access = ("--access", f"endpoint={server.endpoint}", "--access", "addressing=path")
        file = tmp_path / "out/corpus.yaml"
        config = begun(f"s3://{server.bucket}/given", file, *access)
        assert [(one.name, one.location, one.text_key) for one in config.sources] == [
            ("books", f"s3://{server.bucket}/given/books", "text"),
            ("web", f"s3://{server.bucket}/given/web", "body"),
        ]
        assert config.sources[0].s3 is not None
        assert config.sources[0].s3.endpoint == server.endpoint
        built(file)
        one = begun(f"s3://{server.bucket}/given/books/a.jsonl", tmp_path / "one/corpus.yaml", *access)
        assert [(source.location, source.glob) for source in one.sources] == [
            (f"s3://{server.bucket}/given/books", "a.jsonl")
        ]
        message = refused(f"s3://{server.bucket}/nothing", tmp_path / "no/corpus.yaml", *access)
        assert "no object lies below" in message


@pytest.mark.parametrize("name", ["hf://datasets/org/name", "hf://org/name", "hf://org/name@main"])
def test_the_hub(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with hub_of(tmp_path / "server", monkeypatch) as server:
        server.commit({**contents(raw), "README.md": b"# A card"})
        file = tmp_path / "out/corpus.yaml"
        config = begun(name, file)
        top = f"hf://datasets/org/name{'@main' if '@' in name else ''}"
        assert [(one.name, one.location, one.text_key) for one in config.sources] == [
            ("books", f"{top}/books", "text"),
            ("web", f"{top}/web", "body"),
        ]
        built(file)


def test_a_name_that_the_hub_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hub_of(tmp_path / "server", monkeypatch) as server:
        message = refused("hf://org/other", tmp_path / "out/corpus.yaml")
        assert "the hub has no such dataset, or does not show it without a token" in message
        server.commit({"a.jsonl": b"{}"})
        assert "the hub has no such revision" in refused("hf://org/name@v9", tmp_path / "out/corpus.yaml")


def test_a_hub_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hub_of(tmp_path / "server", monkeypatch) as server:
        server.status = 503
        assert "the hub cannot be read now" in refused("hf://org/name", tmp_path / "out/corpus.yaml")


def test_a_list_of_addresses(raw: Path, tmp_path: Path) -> None:
    (raw / "all.urls").write_text("books/a.jsonl\nweb/2024/b.jsonl\n")
    with serving(raw) as site:
        file = tmp_path / "out/corpus.yaml"
        config = begun(f"{site.url}/all.urls", file)
        assert [(one.name, one.location, one.glob) for one in config.sources] == [
            ("books", f"{site.url}/all.urls", "books/**/*"),
            ("web", f"{site.url}/all.urls", "web/**/*"),
        ]
        built(file)


def test_one_address(raw: Path, tmp_path: Path) -> None:
    with serving(raw) as site:
        file = tmp_path / "out/corpus.yaml"
        (source,) = begun(f"{site.url}/books/a.jsonl", file).sources
        assert (source.name, source.location) == ("a", f"{site.url}/books/a.jsonl")
        built(file)
        assert "404" in refused(f"{site.url}/books/none.jsonl", tmp_path / "no/corpus.yaml")
        assert "does not say what it is" in refused(f"{site.url}/books", tmp_path / "no/corpus.yaml")
