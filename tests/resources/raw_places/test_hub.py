"""Datasets on the hub: one commit per listing, read where they lie."""

import errno
import json
import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from resources import hub_client
from resources.errors import ConfigError, StorageError
from resources.raw_places import connection, hub, ranged, remote
from resources.raw_places.interface import SourceFolder
from resources.shards.listing import Shard, list_shards
from tests.hub_server import REPOSITORY, TOKEN, Hub, hub_of

LARGE = random.Random(8).randbytes(100_000)
FILES = {"data/a.jsonl": LARGE, "data/deep/b.jsonl": b"b", "README.md": b"read me", "c.jsonl": b"c", "d e.jsonl": b"d"}


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(ranged, "PART", 32 << 10)
    monkeypatch.setattr(remote, "PAUSE", 0.001)
    monkeypatch.setattr(connection, "BACKOFF", 0.001)
    hub._tree.cache_clear()
    with hub_of(tmp_path, monkeypatch) as made:
        made.commit(FILES)
        yield made


def listed(place: str = "", globs: tuple[str, ...] = ("**/*",), **more: str) -> tuple[Shard, ...]:
    folder = SourceFolder("s", f"hf://datasets/{REPOSITORY}{place}", globs, more.get("format", "auto"))
    return list_shards([folder], lambda *_: [(1, "deep/b.jsonl")]).shards


def test_files_have_the_names_of_a_folder_and_the_commit_of_the_listing(found: Hub) -> None:
    assert [(shard.path, shard.bytes) for shard in listed()] == [
        ("c.jsonl", 1),
        ("d e.jsonl", 1),
        ("data/a.jsonl", len(LARGE)),
        ("data/deep/b.jsonl", 1),
    ]
    first, second = listed("@main/data")
    assert (first.path, second.path) == ("a.jsonl", "deep/b.jsonl")
    assert first.seen()["commit"] == found.branches["main"]
    assert first.full_path == f"hf://datasets/{REPOSITORY}@main/data/a.jsonl"
    assert [shard.path for shard in listed("@main", ("data/*",))] == ["data/a.jsonl"]
    assert {shard.path: shard.open().read() for shard in listed()} == {
        path: raw for path, raw in FILES.items() if path != "README.md"
    }


def test_a_worker_reads_the_commit_of_the_listing_whatever_the_branch_is_by_then(found: Hub) -> None:
    (shard,) = pickle.loads(pickle.dumps(listed("@main/data", ("*.jsonl",))))
    found.commit({**FILES, "data/a.jsonl": b"other"})
    assert shard.open().read() == LARGE


def test_a_branch_is_asked_for_every_time_and_a_commit_never_again(found: Hub) -> None:
    before = listed("@main/data")
    commit = found.commit({**FILES, "c.jsonl": b"other"})
    after = listed("@main/data")
    assert after[0].seen()["commit"] == commit != before[0].seen()["commit"]
    assert after[0].is_as(before[0].seen())
    found.commit({**FILES, "data/a.jsonl": b"other"})
    assert not listed("@main/data")[0].is_as(before[0].seen())
    found.asked.clear()
    assert [listed(f"@{commit}/data") for _ in range(3)][-1][0].seen()["commit"] == commit
    assert found.asked["revision"] == 0


def test_content_comes_from_where_the_hub_keeps_it_and_never_sees_the_token(found: Hub) -> None:
    shard = listed("@main/data")[0]
    assert shard.open().read() == LARGE
    assert found.tokens == {f"Bearer {TOKEN}"}
    assert found.content.tokens == {None}
    assert TOKEN not in json.dumps([repr(shard), shard.seen(), shard.full_path])
    assert found.content.sent[f"{shard.seen()['commit']}/data/a.jsonl"] <= len(LARGE) + ranged.PART


def test_a_list_of_texts_reads_files_of_its_commit(found: Hub) -> None:
    (shard,) = listed("@main/data", ("a.jsonl",), format="txt_list")
    assert shard.bytes == len(LARGE) + 1
    assert shard.open_member("deep/b.jsonl").read() == b"b"
    assert not shard.changed()


def test_what_is_not_there_and_what_the_hub_refuses(found: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="no such revision"):
        listed("@v9")
    with pytest.raises(ConfigError, match="no such folder"):
        listed("@main/none")
    found.is_private = True
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setenv("HF_HOME", "none")
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", "none")
    with pytest.raises(ConfigError, match="no such dataset, or does not show it without a token"):
        listed()
    found.status = 403
    with pytest.raises(StorageError, match=r"sources\.s\.location: .* cannot be read now: it answers 403"):
        listed()


def test_a_hub_that_fails_while_a_file_is_read_is_no_fault_of_the_file(found: Hub) -> None:
    shard = listed("@main/data")[0]
    found.status = 503
    with pytest.raises(StorageError, match=r"s/a\.jsonl: localhost answers 503") as error:
        shard.open()
    assert "secret" not in str(error.value)


def test_what_is_wrong_with_the_hub_is_said_and_a_fault_of_ours_is_not_taken_for_it(
    found: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "_tree", lambda *_: dict[str, str]()["no such key"])
    with pytest.raises(StorageError, match=r"the hub's answer cannot be understood: KeyError"):
        listed()
    monkeypatch.setattr(hub, "_tree", lambda *_: None.files)  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        listed()
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://localhost:1")
    with pytest.raises(StorageError, match=r"sources\.s\.location: .*: the hub cannot be reached: \w+"):
        listed()


@pytest.mark.parametrize("pinned", [False, True])
def test_a_hub_that_never_answers_is_given_up(found: Hub, monkeypatch: pytest.MonkeyPatch, pinned: bool) -> None:
    monkeypatch.setattr(hub_client, "SECONDS", 0.05)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)  # Its client tries it again.
    found.silent = True
    with pytest.raises(StorageError, match=r"sources\.s\.location: .*: the hub cannot be reached: ReadTimeout"):
        listed(f"@{found.branches['main']}" if pinned else "@main")


def test_offline_the_hub_is_not_asked(found: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    shard = listed("@main/data")[0]
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    found.asked.clear()
    with pytest.raises(StorageError, match="HF_HUB_OFFLINE is set"):
        shard.open()
    assert not found.asked


def test_an_error_of_the_system_is_named(found: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    shard = listed()[0]
    error = OSError(errno.EIO, "Input/output error", "/home/token")
    monkeypatch.setattr("huggingface_hub.get_token", Mock(side_effect=error))
    with pytest.raises(StorageError, match=r"s/c\.jsonl: the hub cannot be reached: /home/token: Input/output error"):
        shard.open()
