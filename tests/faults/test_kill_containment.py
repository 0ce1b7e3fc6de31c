"""Killed while documents within others, or templates, are looked for: the next build finishes what is missing."""

from pathlib import Path

import pytest

from corpus_assets.dedup.containment.assets import STAGES as CONTAINMENT
from corpus_assets.dedup.templates.assets import STAGES as TEMPLATES
from tests.build.small import write_small
from tests.faults.kill_in_stage import killed_and_finished

CHANGES = {"dedup.rule": "either", "dedup.contained": 0.5, "dedup.template_share": 0.2}


@pytest.mark.slow
def test_killed_while_contained_documents_are_found(tmp_path: Path) -> None:
    stages = [stage.name for stage in (*TEMPLATES, *CONTAINMENT)]
    killed_and_finished(write_small(tmp_path / "killed", CHANGES), *stages, "components")
