"""A raw file that is rewritten while it is read is never taken for a bad one, which might be skipped."""

from pathlib import Path
from typing import BinaryIO

import pytest

from corpus_assets.corpus.step import Step
from resources.planning.planner import Status
from resources.raw_places.files import FoundFile
from resources.raw_places.local import LocalFolder
from tests.build.small import Work, drive, opened, write_small

TWO = "books--two"


@pytest.mark.parametrize("meanwhile", ["half written", "gone"])
def test_it_fails_the_shard_although_bad_files_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    folder = write_small(tmp_path, {"sources.0.on_bad_file": "skip", "sources.0.max_bad_rows": 0.5})
    raw = folder / "raw/books/two.jsonl.gz"
    content, opens = raw.read_bytes(), LocalFolder.open

    def replaced(self: LocalFolder, file: FoundFile, label: str) -> BinaryIO:
        if label == "books/two.jsonl.gz":
            raw.write_bytes(content[: len(content) // 2])
            if meanwhile == "gone":
                raw.unlink()
        return opens(self, file, label)

    corpus = opened(folder)
    upto = [corpus.graph[name] for name in ("inventory", "raw_source")]
    assert not drive(corpus, upto).failed
    step = Step(opened(folder), corpus.graph["normalized_documents"], [TWO])
    monkeypatch.setattr(LocalFolder, "open", replaced)
    step.run()
    monkeypatch.undo()
    raw.write_bytes(content)
    again = opened(folder)
    assert not drive(again).failed
    record = again.ledger.read("normalized_documents", TWO)
    assert record is not None
    assert record.statistics["rows_out"] == 8
    assert step.failures() == [
        f"normalized_documents/{TWO}: books/two.jsonl.gz changed while it was being read; build again"
    ]


def test_a_link_that_leads_nowhere_is_skipped(tmp_path: Path) -> None:
    folder = write_small(tmp_path, {"sources.0.on_bad_file": "skip", "sources.0.max_bad_rows": 0.5})
    (folder / "raw/books/lost.jsonl").symlink_to("nowhere.jsonl")
    work = Work(folder)
    assert not drive(opened(folder)).failed
    assert work.plan() == {}


@pytest.mark.parametrize("again", [False, True])
def test_a_file_replaced_before_its_digest_was_taken_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    folder = write_small(tmp_path)
    raw = folder / "raw/books/two.jsonl.gz"
    content, opens = raw.read_bytes(), LocalFolder.open
    corpus = opened(folder)
    assert not drive(corpus, [corpus.graph["inventory"]]).failed
    step = Step(opened(folder), corpus.graph["raw_source"], [TWO])
    _replace(raw, content + content)

    def replaced(self: LocalFolder, file: FoundFile, label: str) -> BinaryIO:
        found = opens(self, file, label)
        _replace(raw, content + content)
        return found

    if again:
        monkeypatch.setattr(LocalFolder, "open", replaced)
    step.run()
    monkeypatch.undo()
    (decision,) = [one for one in opened(folder).planner().plan().of("raw_source") if one.partition == TWO]
    assert ((decision.status, decision.rewritten) == (Status.FRESH, False)) is not again


def _replace(file: Path, content: bytes) -> None:
    new = file.with_name(f"{file.name}.new")
    new.write_bytes(content)
    new.replace(file)
