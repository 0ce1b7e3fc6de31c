"""Killed while repetitions or pieces of benchmarks are looked for: the next build finishes what is missing."""

import json
import shutil
from pathlib import Path

import pytest

from tests.attributes.semantic.model import texts, write_model
from tests.build.small import contents, drive, opened, prose, write_raw, write_small
from tests.faults.kill_in_stage import killed_and_finished

SEMANTIC = {"kind": "semantic", "model": "model", "threshold": 0.97, "clusters": 3}
CHANGES = {
    "dedupers": [{"name": "lines", "by": "paragraphs"}, {"kind": "substrings", "min_length": "20 bytes"}, SEMANTIC],
    "benchmarks": [{"name": "exam", "location": "exam"}],
    "on_contamination": "remove_document",
}


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("raw"), CHANGES)
    write_model(folder / "model")
    write_raw(folder, "web/meanings.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(texts(1, 40))])
    (folder / "exam").mkdir()
    (folder / "exam/items.jsonl").write_text(json.dumps({"id": "a", "text": prose("books/one", 40)}) + "\n")
    return folder


@pytest.fixture(scope="module")
def whole(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("whole")
    shutil.copytree(raw, folder, dirs_exist_ok=True)
    drive(opened(folder))
    return contents(opened(folder))


@pytest.mark.slow
@pytest.mark.parametrize(
    "stage",
    [
        "lines_seen",
        "benchmark_hits",
        "contamination_attributes",
        "substrings_passages",
        "substrings_repeated_passages",
        "substrings_windows",
        "semantic_vectors",
        "semantic_centers",
        "semantic_alike",
    ],
)
def test_killed_while_attributes_are_made(raw: Path, whole: dict[str, str], tmp_path: Path, stage: str) -> None:
    killed_and_finished(raw, whole, tmp_path, stage)
