"""A store that is deleted while it is built on, and files of a builder that cannot be removed."""

import errno
import shutil
from pathlib import Path

import pytest

from corpus_assets.orchestration.building.build import build
from resources.stage.declaration import Partitioning, Stage
from resources.stage.graph import Graph
from resources.stage.task import Task
from resources.tidying import left_behind
from tests.build.small import Work, drive, opened
from tests.orchestration.silent import Silent


@pytest.mark.parametrize("emptied", [False, True])
def test_a_store_that_was_deleted_is_said_as_such(work: Work, emptied: bool) -> None:
    corpus = opened(work.folder)
    root = Path(corpus.storage.place)

    def deletes(task: Task) -> None:
        for item in root.iterdir() if emptied else [root]:
            shutil.rmtree(item, ignore_errors=True)
            item.unlink() if item.is_file() else None
        task.save_bytes(f"gone/{task.key}.txt", b"1")

    gone = Stage(
        name="gone",
        group="test",
        description="Deletes the store.",
        partitioning=Partitioning.SHARD,
        compute=deletes,
        code_version="1",
        io="records",
    )
    corpus.graph = Graph([*corpus.graph, gone])
    built = drive(corpus, [corpus.graph["gone"]])
    assert built.failed
    for line in built.failed:
        assert "the store was removed or emptied" in line and str(root) in line


def test_a_file_of_the_builder_that_cannot_be_removed_fails_nothing(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = Path.unlink

    def fails(path: Path, missing_ok: bool = False) -> None:
        if ".builders" in path.parts:
            raise OSError(errno.EIO, "Input/output error")
        unlink(path, missing_ok=missing_ok)

    left_behind()
    work.config(short_documents__threshold=90)
    corpus = opened(work.folder)
    monkeypatch.setattr(Path, "unlink", fails)
    report = build(corpus, [corpus.graph["short_documents"]], Silent(), checks=False)
    assert report.ok and report.recomputed
    (note,) = [note for note in report.notes if ".builders" in note]
    assert "could not be removed" in note and "Input/output error" in note


def test_an_old_file_that_cannot_be_removed_fails_nothing(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = opened(work.folder)
    record = corpus.ledger.read("duplicate_pairs", "band-00")
    assert record is not None
    unlink = Path.unlink

    def fails(path: Path, missing_ok: bool = False) -> None:
        if path.name == Path(old).name:
            raise OSError(errno.EIO, "Input/output error")
        unlink(path, missing_ok=missing_ok)

    old = "documents/old.jsonl.gz"
    corpus.storage.write(old, b"old")
    monkeypatch.setattr(Path, "unlink", fails)
    left_behind()
    assert corpus.remove_obsolete({("duplicate_pairs", "band-00"): [old]}) == 0
    (note,) = left_behind()
    assert "while removing" in note and old in note and "corpus clean" in note
