"""Killed while repetitions or pieces of benchmarks are looked for: the next build finishes what is missing."""

import json
from pathlib import Path

import pytest

from tests.attributes.semantic.model import texts, write_model
from tests.build.small import prose, write_raw, write_small
from tests.faults.kill_in_stage import killed_and_finished

SEMANTIC = {"kind": "semantic", "model": "model", "threshold": 0.97, "clusters": 3}
CHANGES = {
    "dedupers": [{"name": "lines", "by": "paragraphs"}, {"kind": "substrings", "min_length": "20 bytes"}, SEMANTIC],
    "benchmarks": [{"name": "exam", "location": "exam"}],
    "on_contamination": "remove_document",
}


STAGES = (
    *("lines_seen", "benchmark_hits", "contamination_attributes"),
    *("substrings_passages", "substrings_repeated_passages", "substrings_windows"),
    *("semantic_vectors", "semantic_centers", "semantic_alike"),
)


@pytest.mark.slow
def test_killed_while_attributes_are_made(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "killed", CHANGES)
    write_model(folder / "model")
    write_raw(folder, "web/meanings.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(texts(1, 40))])
    (folder / "exam").mkdir()
    (folder / "exam/items.jsonl").write_text(json.dumps({"id": "a", "text": prose("books/one", 40)}) + "\n")
    killed_and_finished(folder, *STAGES)
