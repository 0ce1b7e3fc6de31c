"""The vectors that wordllama's wheel brings: needs the extra `semantic`."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from resources.errors import ConfigError
from tests.attributes.semantic.test_stages import ENTRY, built, marked
from tests.build.small import opened, write_config, write_raw, write_small

TEXTS = [
    "How do I bake bread at home without a machine?",
    "What is the best way of baking bread at home, without a bread machine?",
    "The train to Hamburg leaves at nine in the morning.",
    "Trains to Hamburg leave in the morning at nine.",
    "Photosynthesis turns light into chemical energy in plants.",
]


@pytest.mark.skipif(find_spec("wordllama") is None, reason="wordllama is not installed")
def test_its_vectors_know_what_sentences_mean(tmp_path: Path) -> None:
    write_small(tmp_path)
    write_raw(tmp_path, "web/said.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(TEXTS)])
    found = marked(built(tmp_path, {**ENTRY, "model": "wordllama", "threshold": 0.75, "glob": "said.jsonl"})[0])
    first = min(found) - 1
    assert {place - first: kept - first for place, (kept, _) in found.items()} == {1: 0, 3: 2}


@pytest.mark.skipif(find_spec("wordllama") is not None, reason="wordllama is installed")
def test_without_the_wheel_the_command_that_installs_it_is_said(tmp_path: Path) -> None:
    write_small(tmp_path)
    write_config(tmp_path, {"dedupers": [{**ENTRY, "model": "wordllama"}]})
    with pytest.raises(
        ConfigError, match=r"dedupers.semantic.model needs the wheel wordllama.*'corpus-assets\[semantic\]'"
    ):
        opened(tmp_path).planner().plan()
