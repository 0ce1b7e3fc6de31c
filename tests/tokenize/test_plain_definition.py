"""Merges that spell a control token are left out, however a `tokenizer.json` writes its merges."""

from typing import Any
from unittest.mock import Mock

import pytest

from corpus_assets.tokenize.tokenizers import files
from corpus_assets.tokenize.tokenizers.library import LibraryBackend
from corpus_assets.tokenize.tokenizers.special_tokens import plain_definition

PAIRS = [["a", "b"], ["<", "s"], ["<s", ">"], ["ab", "c"]]
VOCABULARY = {token: id_ for id_, token in enumerate(["a", "b", "c", "<", "s", ">", "ab", "<s", "<s>", "abc"])}


def definition(merges: list[Any], control: list[str]) -> dict[str, Any]:
    added = [{"id": VOCABULARY[token], "content": token, "special": True} for token in control]
    return {"model": {"type": "BPE", "vocab": VOCABULARY, "merges": merges}, "added_tokens": added}


def pairs_left(merges: list[Any], control: list[str]) -> list[list[str]]:
    left = plain_definition(definition(merges, control))["model"]["merges"]
    return [pair.split(" ") if isinstance(pair, str) else list(pair) for pair in left]


@pytest.mark.parametrize(
    "merges",
    [PAIRS, [" ".join(pair) for pair in PAIRS], [*PAIRS[:2], *(" ".join(pair) for pair in PAIRS[2:])]],
    ids=["lists", "strings", "both"],
)
def test_merges_of_a_control_token_go_however_they_are_written(merges: list[Any]) -> None:
    assert pairs_left(merges, []) == PAIRS
    assert pairs_left(merges, ["<s>"]) == [PAIRS[0], PAIRS[1], PAIRS[3]]
    assert pairs_left(merges, ["ab"]) == [PAIRS[1], PAIRS[2]]


def test_too_little_memory_is_no_fault_of_a_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LibraryBackend, "around", property(Mock(side_effect=MemoryError)))
    with pytest.raises(MemoryError):
        LibraryBackend.of(definition(PAIRS, []))
    monkeypatch.setattr(files, "Encoder", Mock(side_effect=MemoryError))
    with pytest.raises(MemoryError):
        files.byte_level_definition({"m": b"a b", "v": b'{"a": 0, "b": 1, "ab": 2}'}, "m", "v")
