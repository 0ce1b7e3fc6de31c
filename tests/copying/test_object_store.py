"""Copies from a folder to an object store, between object stores and back are equal, whatever happens on the wire."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from corpus_assets.copying import Copied, copy_corpus
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.unowned import unowned_files
from corpus_assets.verification.verify import verify
from resources.errors import StorageError
from resources.planning.planner import Status
from tests.build.small import Work, digests, drive, opened, raw_rows
from tests.copying.test_copy import stored
from tests.copying.test_resumed import StopError, stops_after
from tests.fault_proxy import EVERY_FAULT, Kind, faults
from tests.object_store import Server

pytestmark = pytest.mark.slow


@pytest.fixture
def server(real_server: Server) -> Server:
    return real_server


def at(folder: Path, server: Server, name: str, endpoint: str | None = None) -> Corpus:
    """The corpus of a folder with an object store, below a prefix of its own."""
    changes = {
        "root": f"s3://{server.bucket}/{folder.parent.name}/{name}",
        "kind": "s3",
        "s3.endpoint": endpoint or server.endpoint,
        "s3.addressing": "path",
        "cache.folder": str(folder / "cache"),
    }
    return Corpus.open(folder / "corpus.yaml", [f"storage.{key}={value}" for key, value in changes.items()])


def in_folder(folder: Path, name: str) -> Corpus:
    return Corpus.open(folder / "corpus.yaml", [f"storage.root={name}"])


def is_sound(corpus: Corpus, whole: Corpus) -> None:
    assert digests(corpus) == digests(whole)
    assert {one.status for one in corpus.planner().plan().decisions} == {Status.FRESH}
    assert verify(corpus, deep=True).bad == []
    assert unowned_files(corpus, corpus.ledger) == []


def test_there_and_on_and_back(work: Work, server: Server) -> None:
    there = copy_corpus(opened(work.folder), at(work.folder, server, "one"))
    assert there.errors == []
    is_sound(at(work.folder, server, "one"), opened(work.folder))
    again = copy_corpus(opened(work.folder), at(work.folder, server, "one"))
    assert (again.copied, again.already_there) == (0, there.copied)
    on = copy_corpus(at(work.folder, server, "one"), at(work.folder, server, "two"))
    is_sound(at(work.folder, server, "two"), opened(work.folder))
    back = copy_corpus(at(work.folder, server, "two"), in_folder(work.folder, "back"))
    assert there == on == back
    assert stored(work.folder / "back") == stored(work.folder / "corpus")


def test_a_replaced_partition_leaves_nothing_behind(work: Work, server: Server) -> None:
    copy_corpus(opened(work.folder), at(work.folder, server, "replaced"))
    work.rows("books/one.jsonl", raw_rows()["books/one.jsonl"][:-1])
    corpus = opened(work.folder)
    assert not drive(corpus, list(corpus.graph)).failed
    result = copy_corpus(opened(work.folder), at(work.folder, server, "replaced"))
    assert result.errors == []
    assert result.removed > 0
    is_sound(at(work.folder, server, "replaced"), opened(work.folder))


def test_files_for_people_have_plain_names(work: Work, server: Server) -> None:
    copy_corpus(opened(work.folder), at(work.folder, server, "plain"), ["train_tokens", "minhashes"])
    paths = set(at(work.folder, server, "plain").storage.paths(""))
    assert "tokens/train/chunk-0000.h5" in paths
    assert "minhashes/books/one.signatures.npy" not in paths
    assert any(path.startswith("minhashes/books/@") for path in paths)


def test_a_copy_that_stopped_goes_on(work: Work, server: Server) -> None:
    for _ in range(3):
        with pytest.raises(StopError):
            copy_corpus(opened(work.folder), at(work.folder, server, "stopped"), on_bytes=stops_after(40_000))
        assert verify(at(work.folder, server, "stopped"), deep=True).bad == []
    result = copy_corpus(opened(work.folder), at(work.folder, server, "stopped"))
    assert result.already_there > 0
    is_sound(at(work.folder, server, "stopped"), opened(work.folder))


def finished(source: Corpus, target: Corpus, most: int = 4) -> tuple[Copied, Sequence[str]]:
    """Copies until it ends well, at most so often; returns the result and the errors before."""
    said: list[str] = []
    for _ in range(most):
        try:
            result = copy_corpus(source, target)
        except StorageError as error:
            said.append(str(error))
            continue
        assert result.errors == []
        return result, said
    raise AssertionError(said)


@pytest.mark.parametrize("kinds", [EVERY_FAULT, ("500", "503"), ("cut", "truncated")], ids=" ".join)
def test_faults_on_the_wire_change_nothing(
    work: Work, server: Server, kinds: Sequence[Kind], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy ends well, or says what the matter is, and the next one goes on."""
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.1)
    name = f"wire-{'-'.join(kinds)}"
    with faults(server.endpoint, kinds) as proxy:
        finished(opened(work.folder), at(work.folder, server, name, proxy.endpoint))
        is_sound(at(work.folder, server, name), opened(work.folder))
        finished(at(work.folder, server, name, proxy.endpoint), in_folder(work.folder, "back"))
        assert set(proxy.made) == set(kinds)
    assert stored(work.folder / "back") == stored(work.folder / "corpus")
