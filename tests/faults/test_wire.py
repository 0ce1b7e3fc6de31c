"""Faults on the wire between a build and its store: it ends with equal content, or in words, and the next one ends."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.building.build import build
from corpus_assets.verification.verify import verify
from resources.errors import CorpusError
from resources.planning.planner import Status
from resources.storage.file_cache import FileCache
from resources.storage.s3.store import S3Storage
from tests.build.small import CONFIG, digests, drive, opened, raw_rows, write_config, write_raw
from tests.fault_proxy import EVERY_FAULT, Kind, faults
from tests.object_store import Server
from tests.orchestration.silent import Silent

pytestmark = pytest.mark.slow
MOST_BUILDS = 5
FILES = ("books/one.jsonl", "books/two.jsonl.gz")
FEW = {
    "sources": CONFIG["sources"][:1],
    "datasets": CONFIG["datasets"][:1],
    "minhash.bands": 1,
    "dedup.ranges": 1,
    "mix.chunks": 1,
}
"""A corpus of every stage with few partitions, each of which is some ten requests."""

WITH_LATENCY: tuple[Kind, ...] = ("latency",)


@pytest.fixture
def server(real_server: Server) -> Server:
    return real_server


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client tries again soon: its own waits would be minutes."""
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.1)


def write_few(folder: Path) -> Path:
    """Writes a corpus of two files."""
    for path in FILES:
        write_raw(folder, path, raw_rows()[path])
    write_config(folder, FEW)
    return folder


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_few(tmp_path_factory.mktemp("undisturbed"))
    assert not drive(opened(folder)).failed
    return folder


def on(folder: Path, server: Server, name: str, endpoint: str) -> Corpus:
    """The corpus of a folder with a store that is reached at some address."""
    storage = {
        "root": f"s3://{server.bucket}/{name}",
        "s3": {"endpoint": endpoint, "addressing": "path"},
        "cache": {"folder": "cache"},
    }
    write_config(folder, FEW | {"storage": storage})
    return opened(folder)


def built(folder: Path, server: Server, name: str, endpoint: str) -> list[str]:
    """Builds until nothing fails, at most so often; returns the errors before that."""
    said: list[str] = []
    for _ in range(MOST_BUILDS):
        try:
            corpus = on(folder, server, name, endpoint)
            report = build(corpus, list(corpus.graph), Silent())
        except (CorpusError, OSError) as error:
            said.append(str(error))
            continue
        if report.ok:
            return said
        said += report.failed
    raise AssertionError(said)


@pytest.mark.parametrize("kinds", [EVERY_FAULT, ("500", "503"), ("cut",), ("truncated",), WITH_LATENCY], ids=" ".join)
def test_a_build_ends_with_equal_content(
    undisturbed: Path, server: Server, tmp_path: Path, kinds: Sequence[Kind]
) -> None:
    name = f"build-{'-'.join(kinds)}"
    folder = write_few(tmp_path)
    with faults(server.endpoint, kinds) as proxy:
        said = built(folder, server, name, proxy.endpoint)
        assert set(proxy.made) == set(kinds)
    assert all("://" not in words.replace("s3://", "") for words in said), "no addresses, which may be signed"
    corpus = on(folder, server, name, server.endpoint)
    assert digests(corpus) == digests(opened(undisturbed))
    assert {one.status for one in corpus.planner().plan().decisions} == {Status.FRESH}
    assert verify(corpus, deep=True).bad == []


@pytest.mark.parametrize("kind", [*EVERY_FAULT, "latency"])
def test_objects_of_many_parts_arrive_whole(server: Server, tmp_path: Path, kind: Kind) -> None:
    """Sent in parts and read again by ranges, read ahead, and as a copy."""
    content = random.Random(kind).randbytes(23 << 20)
    folder = write_few(tmp_path)
    with faults(server.endpoint, [kind], one_in=2, seed=2) as proxy:
        storage = cast(S3Storage, on(folder, server, f"parts-{kind}", proxy.endpoint).storage)
        for _ in range(MOST_BUILDS):
            unpublished = storage.begin()
            try:
                unpublished.create("large/one.npy").write(content)
                unpublished.prepare()
                unpublished.publish()
                path = unpublished.stored("large/one.npy")
                break
            except OSError:
                continue
            finally:
                unpublished.discard()
        elsewhere = replace(storage, cache=FileCache(tmp_path / "elsewhere", 1 << 30))
        with elsewhere.sequential(path) as file:
            assert file.read() == content
        assert elsewhere.read(path, 9 << 20, 1000) == content[9 << 20 : (9 << 20) + 1000]
        assert Path(elsewhere.fetch(path)).read_bytes() == content
        assert proxy.made[kind] > 0
