"""Keys that were made from a wrong reading of a raw file block nothing for good, and prove nothing."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from corpus_assets.normalize import reading
from corpus_assets.takedown import assets
from resources.formats.documents import Document
from resources.raw_places.files import FoundFile
from resources.raw_places.local import LocalFolder
from tests.build.small import Work, drive, opened, raw_rows
from tests.takedown.test_takedown import ONE, built_once, verify, work, write_list

__all__ = ["built_once", "work"]


def test_keys_of_too_few_rows_are_made_again(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a store may hold them from a version that did not compare what it read."""
    documents = reading.documents_of

    def fewer(task: Any) -> Iterator[Document]:
        return islice(documents(task), 5) if task.shard.key == ONE else documents(task)

    for asset in ("document_keys", "normalized_documents"):
        (work.folder / f"corpus/ledger/{asset}/{ONE}.json").unlink()
    monkeypatch.setattr(assets, "documents_of", fewer)
    (failed,) = drive(opened(work.folder)).failed
    assert "document_keys/books--one: books/one.jsonl: has keys of 5 rows, and the file has 9; build again" in failed
    monkeypatch.undo()
    drive(opened(work.folder))
    built = drive(opened(work.folder))
    assert (built.failed, built.waiting) == ([], [])
    assert work.plan() == {}


@pytest.mark.parametrize("wrong", ["other bytes", "an early end"])
def test_a_wrong_reading_proves_no_absence(work: Work, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    named = raw_rows()["books/one.jsonl"][8]["id"]
    shown = write_list(work.folder, f"books\t{named}", name="new.txt")
    assert not drive(opened(work.folder)).failed
    assert verify(work.folder, shown)[0] == 0
    raw, content = work.folder / "raw/books/one.jsonl", (work.folder / "raw/books/one.jsonl").read_bytes()
    cut = content[: content.rindex(b'{"id"')]
    other = cut if wrong == "an early end" else content.replace(named.encode(), b"?" * len(named))
    opens = LocalFolder.open

    def misread(self: LocalFolder, file: FoundFile, label: str) -> BinaryIO:
        if label != "books/one.jsonl":
            return opens(self, file, label)
        (work.folder / "misread").write_bytes(other)
        return Path(work.folder / "misread").open("rb")

    monkeypatch.setattr(LocalFolder, "open", misread)
    code, found = verify(work.folder, shown)
    assert code == 1
    assert any("raw file books/one.jsonl" in line and "one of two readings" in line for line in found["unproven"])
    assert raw.read_bytes() == content
