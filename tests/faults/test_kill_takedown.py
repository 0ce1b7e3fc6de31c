"""A build that dies while it takes documents down leaves whole partitions, and the next one finishes."""

from pathlib import Path

import pytest

from tests.build.small import raw_rows, write_small
from tests.faults.kill_in_stage import killed_and_finished


@pytest.mark.slow
def test_a_build_that_dies_in_a_takedown(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "killed", {"remove": {"location": "legal.txt"}})
    (folder / "legal.txt").write_text("".join(f"{rows[0]['id']}\n" for rows in raw_rows().values()))
    killed_and_finished(folder, "takedown")
