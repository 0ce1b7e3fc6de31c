"""A corpus whose raw files lie elsewhere is the same corpus, and a rerun follows what changed there."""

import importlib.util
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from resources.errors import StorageError
from resources.raw_places import connection, hub, remote
from resources.storage.s3.client import client, traffic
from tests.build.small import (
    CONFIG,
    contents,
    digests,
    drive,
    live_records,
    opened,
    prose,
    raw_rows,
    statuses,
    write_raw,
    write_small,
)
from tests.hub_server import TOKEN, hub_of
from tests.object_store import ENVIRONMENT, moto
from tests.web_server import BREAKS, Site, serving

pytestmark = pytest.mark.slow
SETS = ("books", "web", "notes", "own", "exam")


@dataclass
class Elsewhere:
    """A place with a copy of the raw files. publish: makes them those of a folder. site: the server, if it is ours."""

    location: Callable[[str], dict[str, Any]]
    publish: Callable[[Path], None]
    site: Site | None = None


def of_object_store(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    if importlib.util.find_spec("moto") is None:
        pytest.skip("moto is not installed (extra s3-server)")
    for name, value in ENVIRONMENT.items():
        patch.setenv(name, value)
    with moto(folder) as server:

        def publish(raw: Path) -> None:
            for path, content in files_of(raw).items():
                client(server.settings).put_object(Bucket=server.bucket, Key=f"given/{path}", Body=content)

        def location(name: str) -> dict[str, Any]:
            return {"location": f"s3://{server.bucket}/given/{name}", "s3": server.section}

        yield Elsewhere(location, publish)


def of_hub(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    hub._tree.cache_clear()
    with hub_of(folder, patch) as found:

        def publish(raw: Path) -> None:
            found.commit(files_of(raw))

        yield Elsewhere(lambda name: {"location": f"hf://datasets/org/name@main/{name}"}, publish, found.content)


def of_web(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    def publish(raw: Path) -> None:
        for path, content in files_of(raw).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        for name in SETS:
            lines = (str(path.relative_to(raw / name)) for path in (raw / name).rglob("*") if path.is_file())
            (folder / name / "all.urls").write_text("\n".join(lines))

    with serving(folder) as site:
        yield Elsewhere(lambda name: {"location": f"{site.url}/{name}/all.urls"}, publish, site)


PLACES = {"s3": of_object_store, "hub": of_hub, "web": of_web}


def files_of(raw: Path) -> dict[str, bytes]:
    return {str(path.relative_to(raw)): path.read_bytes() for path in raw.rglob("*") if path.is_file()}


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """The small corpus with a dataset's own files and a benchmark, in local folders."""
    for name in ("own", "exam"):
        write_raw(tmp_path / "local", f"{name}/a.jsonl", [{"id": f"{name}-1", "text": prose(name)}])
    write_small(tmp_path / "local")
    configure(tmp_path / "local", lambda name: {"location": f"raw/{name}"})
    return tmp_path / "local"


def configure(folder: Path, location: Callable[[str], dict[str, Any]], **more: Any) -> None:
    config = json.loads(json.dumps(CONFIG))
    for source in config["sources"]:
        source.update(location(source["name"]))
    config["datasets"].append({"name": "own", "sequence_length": 64, "input": location("own")})
    config["benchmarks"] = [{"name": "exam", **location("exam")}]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config | more, sort_keys=False), encoding="utf-8")


@pytest.fixture(params=PLACES)
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    monkeypatch.setattr(remote, "PAUSE", 0.001)
    monkeypatch.setattr(connection, "BACKOFF", 0.001)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    yield from PLACES[request.param](tmp_path / "server", monkeypatch)


def built(folder: Path) -> Corpus:
    corpus = opened(folder)
    found = drive(corpus)
    assert (found.failed, found.waiting) == ([], [])
    return corpus


def test_the_same_files_elsewhere_make_the_same_corpus(given: Path, elsewhere: Elsewhere, tmp_path: Path) -> None:
    elsewhere.publish(given / "raw")
    configure(tmp_path / "other", elsewhere.location)
    local, other = built(given), built(tmp_path / "other")
    assert digests(other) == digests(local)
    assert contents(other) == contents(local)
    assert statuses(opened(tmp_path / "other").planner().plan()) == {}
    assert not (tmp_path / "cache").exists()
    assert not [path for path in (tmp_path / "other").rglob("*") if path.suffix == ".parquet"]
    secrets = (TOKEN, ENVIRONMENT["AWS_SECRET_ACCESS_KEY"], "signature=")
    records = "".join(path.read_text() for path in (tmp_path / "other/corpus/ledger").rglob("*.json"))
    assert not [secret for secret in secrets if secret in records]


def test_a_file_that_changed_is_made_again_with_what_follows_from_it(
    given: Path, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    elsewhere.publish(given / "raw")
    configure(tmp_path / "other", elsewhere.location)
    built(tmp_path / "other")
    built(given)
    rows = raw_rows()["books/three.jsonl"]
    write_raw(given, "books/three.jsonl", [*rows, {"id": "new", "text": prose("new")}])
    elsewhere.publish(given / "raw")
    corpus = opened(tmp_path / "other")
    stale = statuses(corpus.planner().plan())
    changed = {name: why for name, (status, why) in stale.items() if status == "stale"}
    assert changed[("raw_source", "books--three")] == "raw shard books/three.jsonl changed"
    assert {key for asset, key in changed if asset == "raw_source"} == {"books--three"}
    again = drive(corpus)
    assert again.of("raw_source") == again.of("normalized_documents") == {"books--three"}
    assert contents(opened(tmp_path / "other")) == contents(built(given))


def test_a_corpus_may_move_without_being_made_again(given: Path, elsewhere: Elsewhere) -> None:
    built(given)
    elsewhere.publish(given / "raw")
    configure(given, elsewhere.location)
    assert drive(opened(given)).recomputed == set()
    seen = {record.seen["modified"] for (asset, _), record in live_records(opened(given)).items() if "raw" in asset}
    assert all("/" in str(token) and not str(token)[0].isdigit() for token in seen)


def test_the_commit_stands_in_the_record(given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for elsewhere in of_hub(tmp_path / "server", monkeypatch):
        elsewhere.publish(given / "raw")
        configure(tmp_path / "other", elsewhere.location)
        records = live_records(built(tmp_path / "other"))
        assert elsewhere.site is not None
        (commit,) = (path.name for path in elsewhere.site.folder.iterdir())
        assert {record.seen.get("commit") for (asset, _), record in records.items() if asset == "raw_source"} == {
            commit
        }


def test_workers_read_over_connections_that_break(given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for elsewhere in of_web(tmp_path / "server", monkeypatch):
        elsewhere.publish(given / "raw")
        configure(tmp_path / "other", elsewhere.location, engine={"workers": 2})
        assert elsewhere.site is not None
        elsewhere.site.fault = lambda path, number: [503, BREAKS + 100, None, None, None][number % 5]
        assert contents(built(tmp_path / "other")) == contents(built(given))


def test_a_server_that_fails_fails_its_shard_and_nothing_is_lost(
    given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "BACKOFF", 0.001)
    for elsewhere in of_web(tmp_path / "server", monkeypatch):
        elsewhere.publish(given / "raw")
        configure(tmp_path / "other", elsewhere.location)
        config = yaml.safe_load((tmp_path / "other/corpus.yaml").read_text())
        for source in config["sources"]:
            source["on_bad_file"] = "skip"
        (tmp_path / "other/corpus.yaml").write_text(yaml.safe_dump(config))
        corpus, site = opened(tmp_path / "other"), elsewhere.site
        assert site is not None
        Step(corpus, corpus.graph["inventory"]).run()
        step = Step(corpus, corpus.graph["raw_source"])
        site.fault = lambda path, number: 503 if path.endswith((".zst", ".gz", ".parquet")) else None
        failed = {one.partition: str(one.error) for one in step.run() if one.error}
        assert set(failed) == {"books--two", "web--b", "web--deep--a"}
        assert "books/two.jsonl.gz: 127.0.0.1 answers 503" in failed["books--two"]
        with pytest.raises(StorageError, match="answers 503"):
            opened(tmp_path / "other").listing()
        site.fault = lambda path, number: None
        assert not drive(opened(tmp_path / "other")).failed


@pytest.mark.parametrize("name", ["two.jsonl.gz", "b.jsonl.zst", "deep/a.parquet"])
def test_a_place_that_breaks_off_for_good_makes_no_empty_shard(
    given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(remote, "PAUSE", 0.001)
    source = "books" if name.startswith("two") else "web"
    for elsewhere in of_web(tmp_path / "server", monkeypatch):
        elsewhere.publish(given / "raw")
        configure(tmp_path / "other", elsewhere.location)
        config = yaml.safe_load((tmp_path / "other/corpus.yaml").read_text())
        config["sources"][["books", "web"].index(source)]["on_bad_file"] = "skip"
        (tmp_path / "other/corpus.yaml").write_text(yaml.safe_dump(config))
        corpus, site = opened(tmp_path / "other"), elsewhere.site
        assert site is not None
        Step(corpus, corpus.graph["inventory"]).run()
        Step(corpus, corpus.graph["raw_source"]).run()
        step = Step(corpus, corpus.graph["normalized_documents"])
        site.fault = lambda path, number: BREAKS + 40 if path.endswith(name) else None
        (failed,) = (str(one.error) for one in step.run() if one.error)
        assert f"{source}/{name}: cannot be read now: broke off at byte" in failed


def test_bytes_are_moved_as_often_as_they_are_read_locally(
    given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for elsewhere in of_object_store(tmp_path / "server", monkeypatch):
        elsewhere.publish(given / "raw")
        configure(tmp_path / "other", elsewhere.location)
        before = traffic().received
        built(tmp_path / "other")
        size = sum(map(len, files_of(given / "raw").values()))
        assert 2 * size <= traffic().received - before <= 2.2 * size
