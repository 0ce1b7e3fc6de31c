"""Killed while documents are filtered, at every moment of a commit: the next build finishes what is missing."""

import shutil
from pathlib import Path

import pytest

from tests.build.small import contents, drive, opened, write_small
from tests.faults.kill_in_stage import killed_and_finished

CHANGES = {"filter": {"min_text_length": 20, "discard_fields": ["created"]}}


@pytest.mark.slow
def test_killed_while_documents_are_filtered(tmp_path: Path) -> None:
    raw, whole = write_small(tmp_path / "raw", CHANGES), tmp_path / "whole"
    shutil.copytree(raw, whole)
    drive(opened(whole))
    killed_and_finished(raw, contents(opened(whole)), tmp_path / "killed", "filtered_documents")
