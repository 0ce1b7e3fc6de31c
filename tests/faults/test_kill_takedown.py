"""A build that dies while it takes documents down leaves whole partitions, and the next one finishes."""

from pathlib import Path

import pytest

from tests.build.small import contents, drive, opened, raw_rows, write_small
from tests.faults.kill_in_stage import killed_and_finished


@pytest.mark.slow
def test_a_build_that_dies_in_a_takedown(tmp_path: Path) -> None:
    raw = write_small(tmp_path / "raw corpus", {"remove": {"location": "legal.txt"}})
    (raw / "legal.txt").write_text("".join(f"{rows[0]['id']}\n" for rows in raw_rows().values()))
    whole = tmp_path / "whole"
    whole.mkdir()
    write_small(whole, {"remove": {"location": "legal.txt"}})
    (whole / "legal.txt").write_bytes((raw / "legal.txt").read_bytes())
    corpus = opened(whole)
    assert drive(corpus).failed == []
    killed_and_finished(raw, contents(corpus), tmp_path / "killed", "takedown")
