"""Killed while units of a mix, buckets of a score or a language model are made: the next build finishes the rest."""

import shutil
from pathlib import Path

import pytest

from tests.build.small import contents, drive, opened
from tests.faults.kill_in_stage import killed_and_finished
from tests.mix.units.buckets import QUALITY, TOPIC, configure

STAGES = (
    *("english_ngrams", "english_language_model"),
    *("length_scores", "length_borders", "length_attributes"),
    *("mix_scores", "mix_borders", "document_units", "mixed_units", "mix_mixture", "mix_manifest"),
)


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    attributes = [
        {"name": "words", "taggers": ["gopher_v2"]},
        {"name": "length", "score": "words.gopher_v2.word_count"},
    ]
    models = [{"name": "english", "sources": ["books"], "order": 3}]
    units = [TOPIC, QUALITY, {"by": "length.bucket"}]
    weights = {"shares": {"science/q1/head": 0.5, "sports/q4/tail": 0.5}, "max_epochs": 9, "total": 5_000}
    configure(folder, units, weights, attributes=attributes, language_models=models)
    return folder


@pytest.fixture(scope="module")
def whole(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("whole")
    shutil.copytree(raw, folder, dirs_exist_ok=True)
    assert drive(opened(folder)).failed == []
    return contents(opened(folder))


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_killed_while_units_are_made(raw: Path, whole: dict[str, str], tmp_path: Path, stage: str) -> None:
    killed_and_finished(raw, whole, tmp_path, stage)
