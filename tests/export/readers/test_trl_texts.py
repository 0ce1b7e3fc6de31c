"""Trainers of TRL on texts, as their page says: the ids that they make are those that we make of the same texts."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from tests.export.masked import rules
from tests.export.masked.product import of_hdf5
from tests.export.readers.conftest import GENERATION, ORACLE
from tests.export.readers.environments import block, needs, run
from tests.export.readers.trained import batch_rows, falls
from tests.export.texts.made import all_rows

PAGE = "trl-texts"
environment = pytest.mark.parametrize("name", [needs("hugging-face")])
Corpora = Callable[[str], Path]
EPOCHS = 4
"""So often that a model knows which of two answers it has to prefer."""


def ran(name: str, folder: Path, words: str, **run_options: Any) -> Any:
    """A block of the page, run."""
    code = {"code": block(PAGE, "python", words), "template": GENERATION, "saved": True, "run": run_options}
    return run(name, "trainers", code, folder)


def unpadded(batches: Iterable[dict[str, Any]]) -> list[dict[str, list[int]]]:
    """The rows of batches up to the padding."""
    rows = batch_rows(batches)
    return [{key: values[: sum(row["attention_mask"])] for key, values in row.items()} for row in rows]


def rows_of(rows: Iterable[dict[str, list[int]]]) -> list[list[int]]:
    """The ids of rows, in order."""
    return sorted(row["input_ids"] for row in rows)


def encoded(folder: Path, texts: Iterable[str]) -> list[list[int]]:
    """The ids of texts, control tokens among them, in order of their ids."""
    tokenizer = Tokenizer.from_file(str(folder / "corpus/tokenizer/tokenizer.json"))
    return sorted(tokenizer.encode(text, add_special_tokens=False).ids for text in texts)


def rendered(*messages: dict[str, str]) -> str:
    """A conversation in ChatML."""
    return "".join(f"<|im_start|>{one['role']}\n{one['content']}<|im_end|>\n" for one in messages)


@environment
def test_conversations_are_learned_as_we_learn_them(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    found = ran(name, folder, "assistant_only_loss", per_device_train_batch_size=8)
    assert rules.flattening(unpadded(found["batches"])) == of_hdf5(folder, ORACLE)
    assert falls(found["losses"])


@environment
def test_completions_are_learned_with_their_end(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    found = ran(name, folder, "exports/pairs", per_device_train_batch_size=8)
    rows, pairs = unpadded(found["batches"]), all_rows(folder, "pairs")
    assert rows_of(rows) == encoded(folder, (f"{one['prompt']}{one['completion']}<|endoftext|>" for one in pairs))
    learned = [[id_ for id_ in row["labels"] if id_ != rules.IGNORED] for row in rows]
    assert sorted(learned) == encoded(folder, (f"{one['completion']}<|endoftext|>" for one in pairs))
    assert falls(found["losses"])


@environment
def test_both_answers_of_a_preference_reach_the_model(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    found = ran(name, folder, "DPOTrainer", per_device_train_batch_size=8, num_train_epochs=EPOCHS)
    pairs = all_rows(folder, "dpo")
    texts = [rendered(*one["prompt"], *one[answer]) for one in pairs for answer in ("chosen", "rejected")]
    assert rows_of(unpadded(found["batches"])) == encoded(folder, texts * EPOCHS)
    assert falls(found["losses"])


@environment
def test_labelled_answers_reach_the_model(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    found = ran(name, folder, "KTOTrainer", per_device_train_batch_size=8, num_train_epochs=EPOCHS)
    texts = [f"{one['prompt']}{one['completion']}<|endoftext|>" for one in all_rows(folder, "kto")]
    assert rows_of(unpadded(found["batches"])) == encoded(folder, texts * EPOCHS)
    assert falls(found["losses"])
