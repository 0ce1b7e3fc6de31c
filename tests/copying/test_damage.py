"""What is damaged in the source is named and never copied; the rest is."""

from pathlib import Path

import pytest

from resources.copying import Copier
from resources.ledger.ledger import Record, record_path
from tests.build.small import Work, digests, drive, opened
from tests.copying.test_copy import copied, other, stored

DAMAGED = (
    ("normalized_documents", "documents/books/one.jsonl.gz"),
    ("minhashes", "minhashes/books/one.signatures.npy"),
    ("mixed_pass1", "mixed/pass1/books/one.jsonl.zst"),
    ("mixed_pass1", "mixed/pass1/books/one.index.json"),
    ("train_tokens", "tokens/train/chunk-0001.h5"),
    ("report", "report/report.json"),
)


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0x10
    file.write_bytes(content)


@pytest.mark.parametrize(("asset", "path"), DAMAGED, ids=[path for _, path in DAMAGED])
def test_a_flipped_bit_is_named_and_not_copied(work: Work, asset: str, path: str) -> None:
    flip(work.folder / "corpus" / path)
    result = copied(work.folder)
    assert len(result.errors) == 1
    assert result.errors[0].startswith(asset)
    assert path.rpartition("/")[2].split(".")[0] in result.errors[0]
    assert path not in stored(work.folder / "copy")
    lost = digests(opened(work.folder)).keys() - digests(other(work.folder)).keys()
    assert {name for name, _ in lost} == ({asset} - {"report"})  # which `digests` leaves out


def test_files_that_are_missing_or_cut_and_damaged_records_are_named(work: Work) -> None:
    store = work.folder / "corpus"
    (store / "tokens/train/chunk-0000.h5").unlink()
    cut = store / "documents/books/one.jsonl.gz"
    cut.write_bytes(cut.read_bytes()[:-1])
    flip(store / record_path("minhashes", "web--b"))
    result = copied(work.folder)
    assert len(result.errors) == 3
    assert any("tokens/train/chunk-0000.h5: is missing" in error for error in result.errors)
    assert any("documents/books/one.jsonl.gz: has" in error for error in result.errors)
    assert any(error.startswith("ledger/minhashes/web--b.json: damaged record") for error in result.errors)


def test_after_the_source_is_mended_the_copy_is_completed(work: Work) -> None:
    (work.folder / "corpus/tokens/train/chunk-0000.h5").unlink()
    assert copied(work.folder).errors
    assert not drive(opened(work.folder)).failed
    result = copied(work.folder)
    assert (result.errors, digests(other(work.folder))) == ([], digests(opened(work.folder)))


def test_a_partition_that_is_made_again_meanwhile_is_copied_as_it_is_then(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first attempt meets files of the next record."""
    source = opened(work.folder)
    old = source.ledger.read("report", None)
    path = work.folder / "corpus/report/report.json"
    before = path.read_bytes()
    assert not drive(source, [source.graph["report"]]).failed
    begin = Copier._copy

    def late(copier: Copier, record: Record) -> Record:
        if record.asset == "report" and record == old:
            path.write_bytes(before + b" ")
            try:
                return begin(copier, record)
            finally:
                path.write_bytes(before)
                work.rows("notes/single.txt", [{"id": "1", "body": "", "text": "A single text of another length."}])
                assert not drive(opened(work.folder), list(opened(work.folder).graph)).failed
        return begin(copier, record)

    monkeypatch.setattr(Copier, "_copy", late)
    result = copied(work.folder, ["report"])
    assert (result.copied, result.errors) == (1, [])
    now = opened(work.folder).ledger.read("report", None)
    assert other(work.folder).ledger.read("report", None) == now != old
