"""Killed while units of a mix, buckets of a score or a language model are made: the next build finishes the rest."""

from pathlib import Path

import pytest

from tests.faults.kill_in_stage import killed_and_finished
from tests.mix.units.buckets import QUALITY, TOPIC, configure

STAGES = (
    *("english_ngrams", "english_language_model"),
    *("length_scores", "length_borders", "length_attributes"),
    *("mix_scores", "mix_borders", "document_units", "mixed_units", "mix_mixture", "mix_manifest"),
)


@pytest.mark.slow
def test_killed_while_units_are_made(tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    attributes = [
        {"name": "words", "taggers": ["gopher_v2"]},
        {"name": "length", "score": "words.gopher_v2.word_count"},
    ]
    models = [{"name": "english", "sources": ["books"], "order": 3}]
    units = [TOPIC, QUALITY, {"by": "length.bucket"}]
    weights = {"shares": {"science/q1/head": 0.5, "sports/q4/tail": 0.5}, "max_epochs": 9, "total": 5_000}
    configure(folder, units, weights, attributes=attributes, language_models=models)
    killed_and_finished(folder, *STAGES)
