"""Lists of documents to remove that lie elsewhere: read as those of this machine, and only if their version changed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.cli.absent import run
from corpus_assets.cli.console import FAILED
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.takedown.assets import lists_of
from resources.errors import ConfigError, StorageError
from resources.raw_places import connection, hub, remote
from resources.storage.s3.client import client, traffic
from tests.build.small import contents, drive, live_records, opened, raw_rows, write_small
from tests.hub_server import REPOSITORY, hub_of
from tests.object_store import Server
from tests.web_server import Site, serving

FIRST, SECOND = (str(raw_rows()["books/one.jsonl"][row]["id"]) for row in (3, 5))


@dataclass
class Lists:
    """A place with lists. section: `remove` of the corpus.yaml. publish: makes the lists those of the given lines."""

    section: dict[str, Any]
    publish: Callable[..., None]
    site: Site | None = None

    def sent(self) -> int:
        """How many bytes of files were sent so far."""
        return sum(self.site.sent.values()) if self.site else traffic().received


def of_object_store(folder: Path, server: Server) -> Iterator[Lists]:
    prefix = f"lists/{folder.parent.name}"  # Tests share the bucket.

    def publish(**lists: str) -> None:
        for name, lines in lists.items():
            client(server.settings).put_object(Bucket=server.bucket, Key=f"{prefix}/{name}.txt", Body=lines.encode())

    client(server.settings).put_object(Bucket=server.bucket, Key=f"{prefix}/deep/other.txt", Body=b"id:")
    yield Lists({"location": f"s3://{server.bucket}/{prefix}/*.txt", "s3": server.section}, publish)


def of_hub(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Lists]:
    hub._tree.cache_clear()
    with hub_of(folder, patch) as found:

        def publish(**lists: str) -> None:
            found.commit({f"lists/{name}.txt": lines.encode() for name, lines in lists.items()})

        yield Lists({"location": f"hf://datasets/{REPOSITORY}@main/lists/*.txt"}, publish, found.content)


def of_web(folder: Path) -> Iterator[Lists]:
    def publish(**lists: str) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "legal.txt").write_text("".join(lists.values()))

    with serving(folder) as site:
        yield Lists({"location": f"{site.url}/legal.txt"}, publish, site)


@pytest.fixture(params=["s3", "hub", "web"])
def lists(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lists]:
    monkeypatch.setattr(remote, "PAUSE", 0.001)
    monkeypatch.setattr(connection, "BACKOFF", 0.001)
    folder = tmp_path / "server"
    if request.param == "s3":
        yield from of_object_store(folder, request.getfixturevalue("simulation"))
    else:
        yield from of_hub(folder, monkeypatch) if request.param == "hub" else of_web(folder)


def corpus_of(folder: Path, section: dict[str, Any]) -> Corpus:
    return opened(write_small(folder, {"remove": section}))


def list_parameters(corpus: Corpus) -> dict[str, Any]:
    return corpus.settings.derived_parameters(corpus.graph["takedown_list"])


@pytest.mark.slow
def test_lists_elsewhere_remove_what_those_of_this_machine_do(lists: Lists, tmp_path: Path) -> None:
    lists.publish(legal=f"books\t{FIRST}\n")
    corpus = corpus_of(tmp_path / "other", lists.section)
    assert not drive(corpus).failed
    lists.publish(legal=f"books\t{FIRST}\nbooks\t{SECOND}\n")
    again = drive(opened(tmp_path / "other"))
    assert not again.failed
    assert again.of("takedown_list") == {None}
    assert again.of("normalized_documents") == {"books--one"}
    assert again.of("document_keys") == set()
    local = write_small(tmp_path / "local", {"remove": {"location": "legal.txt"}})
    for lines in (f"books\t{FIRST}\n", f"books\t{FIRST}\nbooks\t{SECOND}\n"):
        (local / "legal.txt").write_text(lines)
        assert not drive(opened(local)).failed
    assert contents(opened(tmp_path / "other")) == contents(opened(local))
    assert run(tmp_path / "other" / "corpus.yaml", [lists.section["location"]], as_json=True) == 0
    lists.publish(legal=f"books\t{raw_rows()['books/one.jsonl'][6]['id']}\n")
    assert run(tmp_path / "other" / "corpus.yaml", [lists.section["location"]], as_json=True) == FAILED
    kept = live_records(opened(tmp_path / "other"))["takedown_list", None]
    assert kept.parameters == live_records(opened(local))["takedown_list", None].parameters


def test_all_that_a_pattern_names_is_read_and_nothing_below_it(lists: Lists, tmp_path: Path) -> None:
    lists.publish(legal="one\n", more="two\n")
    corpus = corpus_of(tmp_path, lists.section)
    found = lists_of(corpus.settings.values)
    assert b"".join(found.values()) == b"one\ntwo\n"
    assert list(found) == (["legal.txt"] if len(found) == 1 else ["legal.txt", "more.txt"])


def test_an_unchanged_list_is_not_read_for_the_next_plan(lists: Lists, tmp_path: Path) -> None:
    lists.publish(legal="one\n" * 1000)
    corpus = corpus_of(tmp_path, lists.section)
    first, sent = list_parameters(corpus), lists.sent()
    assert sent >= 4000
    assert list_parameters(corpus) == first
    assert lists.sent() - sent <= 1
    lists.publish(legal="two\n" * 1000)
    assert list_parameters(corpus) != first


def test_a_list_that_is_gone_is_no_empty_list(tmp_path: Path, simulation: Server, monkeypatch: Any) -> None:
    section = {"location": f"s3://{simulation.bucket}/gone/*.txt", "s3": simulation.section}
    with pytest.raises(ConfigError, match=r"remove\.location: no object lies below"):
        list_parameters(corpus_of(tmp_path, section))
    client(simulation.settings).put_object(Bucket=simulation.bucket, Key="there/a", Body=b"x")
    section["location"] = f"s3://{simulation.bucket}/there/*.txt"
    with pytest.raises(ConfigError, match=r"remove\.location: no file matches 's3://corpora/there/\*\.txt'"):
        list_parameters(corpus_of(tmp_path, section))
    with hub_of(tmp_path / "hub", monkeypatch) as found:
        found.commit({"a.txt": b"x"})
        with pytest.raises(ConfigError, match="the hub has no such folder"):
            list_parameters(corpus_of(tmp_path, {"location": f"hf://datasets/{REPOSITORY}@main/lists/a.txt"}))
    absent = r"remove\.location: 'http.*/no\.txt' cannot be read: the server answers 404"
    with serving(tmp_path) as site, pytest.raises(ConfigError, match=absent):
        list_parameters(corpus_of(tmp_path, {"location": f"{site.url}/no.txt"}))


def test_a_place_that_does_not_answer_is_a_fault_of_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BACKOFF", 0.001)
    with serving(tmp_path) as site:
        corpus = corpus_of(tmp_path, {"location": f"{site.url}/legal.txt"})
        site.fault = lambda path, number: 503
        with pytest.raises(StorageError, match=r"remove\.location.* answers 503"):
            list_parameters(corpus)


def test_a_list_that_changes_during_a_build_is_not_taken_for_that_of_the_plan(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"location": "legal.txt"})
    (tmp_path / "legal.txt").write_text("one\n")
    step = Step(corpus, corpus.graph["takedown_list"])
    (tmp_path / "legal.txt").write_text("two\n")
    (failed,) = step.run()
    assert "remove.lists: a file that it is derived from changed since the build began" in str(failed.error)
    assert Step(corpus, corpus.graph["takedown_list"]).failures() == []
