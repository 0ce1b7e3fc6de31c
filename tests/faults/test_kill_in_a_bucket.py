"""Killed while a partition is made in an object store, at every moment of a commit: the next build finishes it."""

import json
from pathlib import Path
from typing import Any

import pytest
from xxhash import xxh3_128

from corpus_assets.cli.clean import clean_corpus
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.tokenize.counts.manifest import MANIFEST
from corpus_assets.verification.verify import verify
from resources.storage.s3.paths import has_plain_name, unversioned
from tests.build.small import contents, drive, live_records, opened, prose, raw_rows, write_raw, write_small
from tests.faults.kill_in_stage import IN_A_BUCKET, ONE_BY_NAME, kill, killed_at
from tests.object_store import Server

INDEX = "index.json"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = write_small(tmp_path_factory.mktemp("whole"))
    assert not drive(opened(folder)).failed
    return contents(opened(folder))


def in_bucket(server: Server, name: str) -> dict[str, Any]:
    root = f"s3://{server.bucket}/killed/{name}"
    return {"storage": {"root": root, "s3": server.section, "cache": {"folder": "cache"}}}


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "plain"), [("minhashes", False), ("train_tokens", True)])
def test_killed_in_a_stage(whole: dict[str, str], real_server: Server, tmp_path: Path, stage: str, plain: bool) -> None:
    """Files with a version in their key, and files that trainers read by name."""
    write_small(tmp_path, in_bucket(real_server, stage))
    killed_at((*IN_A_BUCKET, ONE_BY_NAME) if plain else IN_A_BUCKET, whole, tmp_path, stage)
    corpus = opened(tmp_path)
    files = [file.path for record in corpus.ledger.records(stage).values() for file in record.files]
    assert files and {has_plain_name(path) for path in files} == {plain}
    clean_corpus(corpus, dry_run=False)
    assert clean_corpus(opened(tmp_path), dry_run=True).unowned == 0
    assert [path for path in corpus.storage.paths("") if path.startswith((".leases", ".builders"))] == []


def change(folder: Path) -> None:
    rows = raw_rows()["books/three.jsonl"]
    rows[0]["text"] = prose("something else")
    write_raw(folder, "books/three.jsonl", rows)


def by_name(corpus: Corpus) -> dict[str, bytes]:
    """What a trainer finds in the folder of the dataset."""
    found = {}
    for path in corpus.storage.paths("exports/mds"):
        with corpus.storage.from_store(path) as file:
            found[path.removeprefix("exports/mds/")] = file.read()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "first", "last"), [("mds_tokens", "mds", INDEX), ("mds_manifest", INDEX, MANIFEST)])
def test_files_of_which_one_is_replaced_count_as_none_and_their_checksums_tell(
    real_server: Server, tmp_path: Path, stage: str, first: str, last: str
) -> None:
    """A corpus was built and changes; the next build is killed when it has sent the first of two plain names."""
    datasets = {"datasets": [{"name": "mds", "format": "mds", "unit": "document"}]}
    twin = write_small(tmp_path / "local", datasets)
    folder = write_small(tmp_path / "remote", datasets | in_bucket(real_server, f"by-name-{stage}"))
    for place in (twin, folder):
        assert not drive(opened(place)).failed
        change(place)
    before, built = by_name(opened(folder)), live_records(opened(folder))
    kill(folder, stage, ONE_BY_NAME)

    killed = opened(folder)
    (lost,) = built.keys() - live_records(killed).keys()
    files = [file.path for file in built[lost].files]
    assert lost[0] == stage and {*files} == {path for path in files if has_plain_name(path)}
    assert {*files} <= {*verify(killed, deep=True).unowned}
    after = by_name(killed)
    changed = {path for path in before if after[path] != before[path]}
    assert [path.endswith((first, last)) for path in files] == [True, True]
    assert {f"exports/mds/{path}" for path in changed} & {*files} == {path for path in files if path.endswith(first)}
    listed = {file["path"]: file["xxh3_128"] for file in json.loads(after[MANIFEST])["files"]}
    assert {path for path, digest in listed.items() if xxh3_128(after[path]).hexdigest() != digest} == changed

    assert not drive(opened(twin)).failed
    done = drive(opened(folder))
    assert not done.failed and lost in done.recomputed
    found = {unversioned(path): digest for path, digest in contents(opened(folder)).items()}
    assert found == contents(opened(twin))
    assert verify(opened(folder), deep=True).bad == []
    assert not {*files} & {*verify(opened(folder), deep=False).unowned}
