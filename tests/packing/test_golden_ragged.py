"""The packings of the golden set, from its texts on: corpus.yaml, stages, command."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.cli.questions.packing import Asked, compared
from corpus_assets.corpus.corpus import Corpus
from tests.build.small import drive
from tests.golden import shared

ASKED = {
    "out/train": ("c4", "drop"),
    "wrap128/train": ("c4", "fold"),
    "wrapbos568/train": ("pieces", "fold"),
}
"""The dataset whose lengths a case has, and what becomes of long documents."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The golden texts with their tokenizer: whole without separators, and in pieces, as the golden arrays."""
    folder = tmp_path_factory.mktemp("ragged")
    tokenizer = str(shared("golden", "ragged", "tokenizer"))
    files = {"location": str(shared("golden", "ragged", "in")), "glob": "c4-train*"}
    config = {
        "sources": [],
        "tokenizer": {"kind": "huggingface", "path": tokenizer, "special_tokens_in_text": True},
        "datasets": [
            {"name": "c4", "format": "megatron", "separator": "none", "input": {**files}},
            {"name": "pieces", "format": "ragged", "context_length": 568, "bos_id": 0, "input": {**files}},
        ],
        "engine": {"workers": 0},
        "storage": {"sync": False},
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config))
    opened = Corpus.open(folder / "corpus.yaml")
    built = drive(opened)
    assert not built.failed and not built.waiting
    return opened


def cases() -> list[dict[str, Any]]:
    found = json.loads(Path(shared("golden", "ragged", "packings.json")).read_text())
    return [case for case in found if case["lens_from"] in ASKED]


def test_packings_equal_the_reference(corpus: Corpus) -> None:
    checked = set[str]()
    for case in cases():
        name, depth = case["algorithm"].lower(), case["max_sequences_per_pack"]
        dataset, rule = ASKED[case["lens_from"]]
        asked = Asked(dataset, case["max_sequence_length"], depth, rule)
        if name == "nnlshp" and depth > 2:
            continue  # Its figures depend on the processor: test_histogram_methods.py.
        found = compared(corpus, asked, [name])
        (row,) = found.methods
        assert found.sequences == case["sequences"]
        assert (row["rows"], row["fill"]) == (case["packs"], case["efficiency"])
        assert row["empty_slots"] == case["slots_without_sequence"]
        checked.add(name)
    assert checked == {"spfhp", "lpfhp", "nnlshp"}
