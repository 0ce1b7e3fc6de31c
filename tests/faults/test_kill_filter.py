"""Killed while documents are filtered, at every moment of a commit: the next build finishes what is missing."""

from pathlib import Path

import pytest

from tests.build.small import write_small
from tests.faults.kill_in_stage import killed_and_finished

CHANGES = {"filter": {"min_text_length": 20, "discard_fields": ["created"]}}


@pytest.mark.slow
def test_killed_while_documents_are_filtered(tmp_path: Path) -> None:
    killed_and_finished(write_small(tmp_path / "killed", CHANGES), "filtered_documents")
