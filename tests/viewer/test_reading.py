"""Rows of files without an index are those that a plain reader finds, up to a limit."""

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus_assets.viewer import reading
from resources.ledger.records import FileRecord, Record
from resources.stage.partition import Partition
from resources.storage.local.store import LocalStorage

LINES = st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"") + b"\n"), max_size=40)


def stored(folder: Path, lines: list[bytes]) -> tuple[Partition, LocalStorage, FileRecord]:
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(b"".join(lines)))
    file = FileRecord("a.jsonl.gz", 0, "", len(lines))
    record = Record(
        asset="a", partition="p", recipe="", digest="", inputs={}, parameters={}, code_version="1", files=[file]
    )
    storage = LocalStorage(folder)
    return Partition(storage, record, compared=False), storage, file


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES, st.integers(0, 45), st.integers(1, 9), st.integers(1, 50))
def test_rows_are_those_of_a_plain_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[bytes], start: int, count: int, block: int
) -> None:
    monkeypatch.setattr(reading, "BLOCK_BYTES", block)
    partition, storage, file = stored(tmp_path, lines)
    if start > len(lines):
        return
    assert reading.lines_at(partition, storage, file, start, count) == lines[start : start + count]


def test_a_row_that_lies_too_far_inside_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 5000)
    monkeypatch.setattr(reading, "BLOCK_BYTES", 100)
    partition, storage, file = stored(tmp_path, [b"x" * 99 + b"\n"] * 100)
    assert reading.lines_at(partition, storage, file, 40, 1) == [b"x" * 99 + b"\n"]
    with pytest.raises(reading.TooFarError, match="row 60 lies more than"):
        reading.lines_at(partition, storage, file, 60, 1)
