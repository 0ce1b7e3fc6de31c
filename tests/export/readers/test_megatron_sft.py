"""Megatron-LM's own dataset of conversations over our texts, as its page says."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from tests.export.readers.environments import block, needs, run
from tests.export.readers.trained import falls
from tests.export.texts.made import all_rows

PAGE = "megatron-sft"
NOT_THERE = "megatron-core 0.19.2, whose package has the dataset of conversations, needs Python 3.12"
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role + '\n' + message.content }}<|im_end|>\n{% endfor %}"
)
SPECIAL = {"eos_token": "<|im_end|>"}
environment = pytest.mark.parametrize("name", [needs("megatron-lm")])
Corpora = Callable[[str], Path]


def read(name: str, folder: Path, file: Path, length: int, rows: int, **special: str) -> Any:
    given = {"file": str(file), "tokenizer": str(folder / "corpus/tokenizer/tokenizer.json"), "template": TEMPLATE}
    sizes = {"special": {**SPECIAL, **special}, "length": length, "rows": rows}
    found = run(name, "megatron_sft", {**given, **sizes}, folder)
    if found is None:
        pytest.skip(NOT_THERE)
    return found


def encoded(folder: Path, messages: Sequence[dict[str, str]]) -> list[int]:
    tokenizer = Tokenizer.from_file(str(folder / "corpus/tokenizer/tokenizer.json"))
    text = "".join(f"<|im_start|>{one['role']}\n{one['content']}<|im_end|>\n" for one in messages)
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return ids


@environment
def test_conversations_are_rows_and_all_of_them_is_learned(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    (option,) = (word for word in block(PAGE, "sh", "--sft").split() if word.endswith(".jsonl"))
    assert option == "CORPUS/exports/sft/FILE.jsonl"
    file = min((folder / "corpus/exports/sft").glob("*.jsonl"))
    talks = [encoded(folder, row["messages"]) for row in all_rows(folder, "sft")[:8]]
    found = read(name, folder, file, 400, 8, pad_token="<|padding|>")
    pad = Tokenizer.from_file(str(folder / "corpus/tokenizer/tokenizer.json")).token_to_id("<|padding|>")
    for row, ids in zip(found["rows"], talks, strict=True):
        padded = [*ids, *[pad] * 401][:401]
        assert (row["tokens"], row["labels"]) == (padded[:-1], padded[1:])
        assert row["loss_mask"] == [float(id_ != pad) for id_ in padded[1:]]
    assert falls(found["losses"])


@environment
def test_a_system_message_begins_a_conversation_and_what_is_too_long_is_cut(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    system, user = {"role": "system", "content": "be brief"}, {"role": "user", "content": "one two three"}
    file = folder / "own.jsonl"
    file.write_text(json.dumps({"messages": [system, user, system, user]}) + "\n")
    one = encoded(folder, [system, user])
    (whole,) = read(name, folder, file, 3 * len(one), 1, pad_token="<|padding|>")["rows"]
    assert whole["tokens"][: 2 * len(one)] == one * 2
    assert whole["cu_seqlens"][:2] == [0, len(one)]
    assert whole["position_ids"][: 2 * len(one)] == [*range(len(one))] * 2
    (cut,) = read(name, folder, file, len(one) + 2, 1, pad_token="<|padding|>")["rows"]
    assert cut["tokens"] == [*one, *one[:2]]


@environment
def test_without_a_padding_token_the_end_is_not_learned(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    file = min((folder / "corpus/exports/sft").glob("*.jsonl"))
    end = Tokenizer.from_file(str(folder / "corpus/tokenizer/tokenizer.json")).token_to_id("<|im_end|>")
    for row in read(name, folder, file, 400, 4)["rows"]:
        assert end in row["labels"]
        assert not any(used for id_, used in zip(row["labels"], row["loss_mask"], strict=True) if id_ == end)
