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
from tests.golden.test_ragged import FOLDERS, options_of
from tests.golden.test_ragged import inputs as patterns


def asked(lens_from: str) -> tuple[str, str]:
    """The dataset whose lengths a case has, and what becomes of long documents."""
    folder, _, split = lens_from.partition("/")
    pieces = "bos_id" in options_of(folder)
    return f"{folder}-{split}" if pieces else split, "fold" if options_of(folder) else "drop"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The golden texts with their tokenizer: whole without separators, and in pieces, as the golden arrays."""
    folder = tmp_path_factory.mktemp("ragged")
    tokenizer = str(shared("golden", "ragged", "tokenizer"))
    location = str(shared("golden", "ragged", "in"))
    inputs = {prefix.partition("-")[2]: {"location": location, "glob": glob} for prefix, glob in patterns().items()}
    whole = [
        {"name": split, "format": "megatron", "separator": "none", "input": {**files}}
        for split, files in inputs.items()
    ]
    cut = [
        {"name": f"{folder}-{split}", "format": "ragged", "input": {**files}, **options_of(folder)}
        for folder in FOLDERS
        if "bos_id" in options_of(folder)
        for split, files in inputs.items()
    ]
    config = {
        "sources": [],
        "tokenizer": {"kind": "huggingface", "path": tokenizer, "special_tokens_in_text": True},
        "datasets": [*whole, *cut],
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
    return [case for case in found if case["lens_from"].partition("/")[0] in FOLDERS]


def test_packings_equal_the_reference(corpus: Corpus) -> None:
    checked = set[str]()
    for case in cases():
        name, depth = case["algorithm"].lower(), case["max_sequences_per_pack"]
        dataset, rule = asked(case["lens_from"])
        question = Asked(dataset, case["max_sequence_length"], depth, rule)
        if name == "nnlshp" and depth > 2:
            continue  # Its figures depend on the processor: test_histogram_methods.py.
        found = compared(corpus, question, [name])
        (row,) = found.methods
        assert found.sequences == case["sequences"]
        assert (row["rows"], row["fill"]) == (case["packs"], case["efficiency"])
        assert row["empty_slots"] == case["slots_without_sequence"]
        checked.add(name)
    assert checked == {"spfhp", "lpfhp", "nnlshp"}
