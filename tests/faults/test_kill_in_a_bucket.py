"""Killed while a partition is made in an object store, at every moment of a commit: the next build finishes it."""

from pathlib import Path

import pytest

from corpus_assets.cli.clean import clean_corpus
from resources.storage.s3_paths import has_plain_name
from tests.build.small import contents, drive, opened, write_small
from tests.faults.kill_in_stage import IN_A_BUCKET, killed_at
from tests.object_store import Server


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = write_small(tmp_path_factory.mktemp("whole"))
    assert not drive(opened(folder)).failed
    return contents(opened(folder))


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "plain"), [("minhashes", False), ("train_tokens", True)])
def test_killed_in_a_stage(whole: dict[str, str], real_server: Server, tmp_path: Path, stage: str, plain: bool) -> None:
    """Files with a version in their key, and files that trainers read by name."""
    root = f"s3://{real_server.bucket}/killed/{stage}"
    write_small(tmp_path, {"storage": {"root": root, "s3": real_server.section, "cache": {"folder": "cache"}}})
    killed_at(IN_A_BUCKET, whole, tmp_path, stage)
    corpus = opened(tmp_path)
    files = [file.path for record in corpus.ledger.records(stage).values() for file in record.files]
    assert files and {has_plain_name(path) for path in files} == {plain}
    clean_corpus(corpus, dry_run=False)
    assert clean_corpus(opened(tmp_path), dry_run=True).unowned == 0
    assert [path for path in corpus.storage.paths("") if path.startswith((".leases", ".builders"))] == []
