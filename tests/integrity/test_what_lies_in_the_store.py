"""What lies in the store is what the records name, and it belongs to one configuration."""

import errno
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.cli.clean import clean_corpus
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.verification.verify import mended, verify
from resources.errors import HeldError, StorageError, StoreAccessError
from resources.ledger.ledger import Ledger
from resources.stage.declaration import Partitioning, Stage, same
from resources.stage.graph import Graph
from resources.stage.task import Task
from resources.storage.local.locks import LOCK
from resources.storage.local.store import LocalStorage
from tests.build.small import Work, contents, drive, opened


def two_files(task: Task) -> None:
    task.save_bytes("own/kept.txt", b"kept")
    task.save_bytes("own/old_template.jinja", b"old")


def one_file(task: Task) -> None:
    task.save_bytes("own/kept.txt", b"kept, and new")


OWN = Stage(
    name="own",
    group="test",
    description="Writes files.",
    partitioning=Partitioning.NONE,
    compute=two_files,
    code_version="1",
    io="records",
)


def with_stage(work: Work, stage: Stage) -> Corpus:
    corpus = opened(work.folder)
    corpus.graph = Graph([*corpus.graph, stage])
    return corpus


def top(work: Work) -> Path:
    return Path(opened(work.folder).storage.place)


def test_a_commit_removes_the_files_that_its_record_no_longer_names(work: Work) -> None:
    assert not drive(with_stage(work, OWN), [OWN]).failed
    assert (top(work) / "own/old_template.jinja").exists()
    newer = replace(OWN, compute=one_file, code_version="2")
    assert not drive(with_stage(work, newer), [newer]).failed
    assert [path.name for path in (top(work) / "own").iterdir()] == ["kept.txt"]


def test_files_of_no_record_are_reported_and_removed(work: Work) -> None:
    stray = top(work) / "tokens/train/chunk-0099.h5"
    shutil.copy(next((top(work) / "tokens/train").glob("*.h5")), stray)
    (top(work) / "notes-of-mine.txt").write_text("not in a folder of the store")
    (top(work) / "mine").mkdir()
    (top(work) / "mine/file").write_text("not in a folder that records name")
    whole = contents(opened(work.folder))
    result = verify(opened(work.folder), deep=False)
    assert (result.bad, result.unowned) == ([], ["tokens/train/chunk-0099.h5"])
    assert clean_corpus(opened(work.folder), dry_run=True).unowned == 1
    assert stray.exists()
    assert clean_corpus(opened(work.folder), dry_run=False).files == 1
    assert not stray.exists()
    assert (top(work) / "mine/file").exists() and (top(work) / "notes-of-mine.txt").exists()
    assert contents(opened(work.folder)) == whole
    assert drive(opened(work.folder)).recomputed == set()


@pytest.mark.parametrize(
    "fault", [StoreAccessError("503"), OSError(5, "Input/output error"), StorageError("read-only")]
)
def test_files_of_no_record_are_reported_unless_a_build_runs(
    work: Work, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    (top(work) / "tokens/train/chunk-0099.h5").write_bytes(b"of no record")
    raised: list[Exception] = [fault, HeldError("a build runs")]

    def fails(_: LocalStorage) -> None:
        raise raised.pop(0)

    monkeypatch.setattr(LocalStorage, "exclusive", fails)
    assert verify(opened(work.folder), deep=False).unowned == ["tokens/train/chunk-0099.h5"]
    assert verify(opened(work.folder), deep=False).unowned == []


def test_a_record_that_a_build_mended_since_it_was_seen_damaged_stays(work: Work) -> None:
    record = next((top(work) / "ledger/normalized_documents").glob("*.json"))
    right = record.read_bytes()
    record.write_bytes(right[:-9])
    result = verify(opened(work.folder), deep=False)
    record.write_bytes(right)
    assert mended(opened(work.folder), result, deep=False) == []
    record.write_bytes(right[:-9])
    assert mended(opened(work.folder), result, deep=False) == [f"ledger/normalized_documents/{record.name}"]
    assert not record.exists()


def test_a_clean_that_was_killed_is_finished_by_the_next(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    (work.folder / "raw/books/three.jsonl").unlink()
    assert not drive(opened(work.folder)).failed
    forget, calls = Ledger.forget, []

    def dies(ledger: Ledger, asset: str, partition: str | None) -> None:
        calls.append(asset)
        if len(calls) == 2:
            raise KeyboardInterrupt
        forget(ledger, asset, partition)

    monkeypatch.setattr(Ledger, "forget", dies)
    with pytest.raises(KeyboardInterrupt):
        clean_corpus(opened(work.folder), dry_run=False)
    monkeypatch.undo()
    clean_corpus(opened(work.folder), dry_run=False)
    assert verify(opened(work.folder), deep=True).unowned == []
    assert not list(top(work).rglob("*three*"))
    assert opened(work.folder).planner().plan().orphans == []


def test_a_dry_run_of_clean_writes_nothing(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    for name in ("exclusive", "shared", "begin", "write", "replace", "delete", "remove_abandoned"):
        monkeypatch.setattr(LocalStorage, name, refuse)
    assert clean_corpus(opened(work.folder), dry_run=True).partitions == 0


def test_a_full_disk_costs_nothing_that_was_there(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old record goes only after the new files are safe; nothing temporary stays."""
    work.config(storage__sync=True, short_documents__threshold=90)
    before = {path: path.read_bytes() for path in top(work).rglob("*") if path.is_file() and path.name != LOCK}

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    corpus = opened(work.folder)
    step = Step(corpus, corpus.graph["short_documents"])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with corpus.storage.exclusive():
            jobs = corpus.jobs(step.planner)
            outcomes = list(corpus.engine.run(jobs.job(step.stage, one.partition) for one in step.due))
    advice = f"; free space where files are written ({corpus.storage.place} and "
    assert outcomes
    for outcome in outcomes:
        assert "No space left" in (outcome.error or "") and advice in (outcome.error or "")
    after = {path: path.read_bytes() for path in top(work).rglob("*") if path.is_file() and path.name != LOCK}
    assert after == before
    assert not list((top(work) / ".tmp").glob("*"))


def reads_flags(task: Task) -> None:
    task.save_bytes(f"reader/{task.key}.txt", b"read")


def test_a_misspelt_segment_is_an_error_that_names_those_there_are(work: Work) -> None:
    reader = Stage(
        name="reader",
        group="test",
        description="Reads one segment.",
        partitioning=Partitioning.SHARD,
        compute=reads_flags,
        code_version="1",
        io="records",
        inputs=(same("short_documents", segment="flags"),),
    )
    assert not drive(with_stage(work, reader), [reader]).failed
    misspelt = replace(reader, inputs=(same("short_documents", segment="flag"),))
    corpus = with_stage(work, misspelt)
    built = drive(corpus, [misspelt])
    assert len(built.failed) == len(corpus.planner().partitions(misspelt))
    assert "reads segment 'flag' of short_documents/books--" in built.failed[0]
    assert "whose segments are: 'flags'" in built.failed[0]
    decisions = with_stage(work, misspelt).planner().decisions(misspelt).values()
    assert {str(decision.status) for decision in decisions} == {"stale"}


def other_config(work: Work) -> Path:
    """A second corpus.yaml on the same default store, with one source fewer."""
    config = yaml.safe_load((work.folder / "corpus.yaml").read_text())
    del config["sources"][1]
    other = work.folder / "other.yaml"
    other.write_text(yaml.safe_dump(config, sort_keys=False))
    return other


def test_a_store_belongs_to_one_configuration(work: Work) -> None:
    whole = contents(opened(work.folder))
    other = other_config(work)
    message = r"belongs to corpus 'small' of \.\./corpus\.yaml .*books.*--take-over"
    for dry_run in (True, False):
        with pytest.raises(StorageError, match=message):
            clean_corpus(Corpus.open(other), dry_run=dry_run)
    with pytest.raises(StorageError, match=message):
        drive(Corpus.open(other))
    assert contents(opened(work.folder)) == whole


def test_a_store_moves_with_its_configuration(work: Work, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere/deeper"
    shutil.copytree(work.folder, moved)
    assert drive(opened(moved)).failed == []
    with opened(moved).exclusive():
        pass
    (tmp_path / "link").symlink_to(moved)
    with opened(tmp_path / "link").exclusive():
        pass


def test_a_store_can_be_taken_over(work: Work) -> None:
    from corpus_assets.cli.clean import run

    other = other_config(work)
    whole = contents(opened(work.folder))
    run(other, dry_run=False, taking_over=True)
    assert contents(opened(work.folder)) == whole
    with Corpus.open(other).exclusive():
        pass
    with pytest.raises(StorageError, match="belongs to corpus"), opened(work.folder).exclusive():
        pass


def of(folder: Path, name: str | None, *sources: tuple[str, str]) -> Corpus:
    """A corpus.yaml of a folder, with sources by name and location."""
    values = {"name": name} if name else {}
    for _, location in sources:
        (folder / location).mkdir(parents=True, exist_ok=True)
    given = [{"name": source, "location": location, "may_be_empty": True} for source, location in sources]
    (folder / "corpus.yaml").write_text(yaml.safe_dump({**values, "sources": given}))
    return opened(folder)


WEB, WIKI = ("web", "raw/web"), ("wiki", "raw/wiki")


@pytest.mark.parametrize("names", [("a", "b"), ("a", None), (None, "b"), (None, None)])
def test_a_store_that_was_moved_into_the_folder_of_another_corpus_is_refused(
    tmp_path: Path, names: tuple[str | None, str | None]
) -> None:
    """Every corpus.yaml lies in the same place beside its store."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    with of(tmp_path / "one", names[0], WEB).exclusive():
        pass
    root = Path(opened(tmp_path / "one").storage.place).relative_to(tmp_path / "one")
    shutil.move(tmp_path / "one" / root, tmp_path / "two" / root)
    other = of(tmp_path / "two", names[1], ("web", "raw/crawl"), ("b", "raw/b"))
    with pytest.raises(StorageError, match=r"belongs to corpus .* with web.*--take-over"), other.exclusive():
        pass
    with pytest.raises(StorageError, match="belongs to corpus"), other.building():
        pass


def test_a_corpus_that_replaces_another_at_its_place_is_refused(tmp_path: Path) -> None:
    with of(tmp_path, "a", WEB).exclusive():
        pass
    with pytest.raises(StorageError, match=r"with web, .*with wiki"), of(tmp_path, "a", WIKI).exclusive():
        pass
    with pytest.raises(StorageError, match=r"'a' of .* not to corpus 'b'"), of(tmp_path, "b", WIKI).exclusive():
        pass


def test_the_owner_may_rename_move_and_edit_his_corpus(tmp_path: Path) -> None:
    def claims(*given: Any) -> None:
        with of(*given).exclusive():
            pass

    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    claims(one, None, WEB)
    claims(one, None, ("web", "raw/other"))
    claims(one, "mine", ("web", "raw/other"), WIKI)
    claims(one, "renamed", WIKI)
    claims(one, "renamed", ("encyclopedia", "raw/wiki"))
    one.rename(two)
    claims(two, "renamed", ("encyclopedia", "raw/wiki"))
    root = Path(opened(two).storage.place)
    root.rename(tmp_path / "store")
    moved = yaml.safe_load((two / "corpus.yaml").read_text()) | {"storage": {"root": str(tmp_path / "store")}}
    (two / "corpus.yaml").write_text(yaml.safe_dump(moved))
    with opened(two).exclusive():
        pass


def test_a_store_whose_owner_cannot_be_read_is_not_taken_over(tmp_path: Path) -> None:
    from corpus_assets.cli.clean import run

    corpus = of(tmp_path, "a", WEB)
    with corpus.exclusive():
        pass
    (Path(corpus.storage.place) / "owner.json").write_text('{"name": "so')
    with pytest.raises(StorageError, match=r"owner\.json.* is damaged.*--take-over"), opened(tmp_path).exclusive():
        pass
    run(tmp_path / "corpus.yaml", dry_run=False, taking_over=True)
    with opened(tmp_path).exclusive():
        pass
