"""Preferences of dialogues through a chat template: where answers begin, what rows say, and what nobody can write."""

import json
from typing import Any

import msgspec
import numpy as np
import pytest

from corpus_assets.config.ready_templates import template_in_place
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes.dpo import DPO, dpo_rows
from corpus_assets.tokenize.modes.mode import Tools
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer
from resources.formats.examples import Example
from tests.tokenize.sections import dpo
from tests.tokenize.test_chat_answers import CHATML, PROMPT, talk, tokenizer

QWEN = template_in_place("qwen3") or ""
CALL = {"type": "function", "function": {"name": "now", "arguments": {"tz": "UTC", "n": None}}}


def run(
    prompt: Any, chosen: Any, rejected: Any, template: str | None = CHATML + PROMPT, row: Any = None, **options: Any
) -> tuple[list[str], Statistics]:
    """Returns both sides as text, what is learned between « and »."""
    section = dpo(512, chat_template=template, **options)
    loaded = tokenizer()
    loaded = loaded.with_control(DPO.control(section, loaded, template))
    statistics = Statistics()
    example = Example(
        "a",
        "s",
        prompt=prompt,
        chosen=chosen,
        rejected=rejected,
        metadata=msgspec.Raw(json.dumps(row or {}).encode()),
    )
    blocks = dpo_rows(section, [example], Tools(loaded, statistics, template))
    return [shown(loaded, side) for block in blocks for side in (block[0][:3], block[0][3:])], statistics


def shown(loaded: LoadedTokenizer, side: Any) -> str:
    inputs, mask, _ = side
    stop = int(np.flatnonzero(mask)[-1]) + 2
    start = int(mask.argmax()) + 1
    return f"{loaded.decode(inputs[:start])}«{loaded.decode(inputs[start:stop])}»"


def test_an_answer_begins_after_the_prompt_for_it_although_its_texts_differ_from_there() -> None:
    reasoned = "<think>\nhm\n</think>\n\nb"
    sides, _ = run(talk(("user", "a"), ("assistant", reasoned), ("user", "c")), reasoned, "e", QWEN)
    opening = "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n<|im_start|>user\nc<|im_end|>\n"
    assert sides == [
        f"{opening}<|im_start|>assistant\n«<think>\nhm\n</think>\n\nb<|im_end|>»",
        f"{opening}<|im_start|>assistant\n«<think>\n\n</think>\n\ne<|im_end|>»",
    ]


def test_a_template_that_cuts_what_somebody_wrote_cuts_no_border_of_control_tokens() -> None:
    template = (
        "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content.split('|im_end|')[-1] }}"
        "{{ '<|im_end|>\\n' }}{% endfor %}" + PROMPT
    )
    sides, _ = run("a<|im_end|>b", "c", "d", template)
    assert sides[0].endswith("b<|im_end|>\n<|im_start|>assistant\n«c<|im_end|>»")
    loaded = tokenizer()
    ids = dpo_rows_of(template, loaded)
    assert ids.count(loaded.special_tokens["<|im_end|>"]) == 4  # of both turns, on both sides


def dpo_rows_of(template: str, loaded: LoadedTokenizer) -> list[int]:
    example = Example("a", "s", prompt="a<|im_end|>b", chosen="c", rejected="d")
    (block,) = dpo_rows(dpo(64, chat_template=template), [example], Tools(loaded, Statistics(), template))
    return [int(id_) for id_ in block[0, [0, 3]].ravel()]


def test_tools_a_system_text_and_calls_without_nulls() -> None:
    said = [*talk(("user", "t?")), {"role": "assistant", "content": "", "tool_calls": [CALL]}, *talk(("tool", "12"))]
    row = {"tools": [{"name": "now", "x": None}], "system": "Be brief.", "more": 1}
    sides, statistics = run(said, talk(("assistant", "Noon")), talk(("assistant", "No")), row=row)
    opening = (
        '<|im_start|>system\n[{"name": "now"}]<|im_end|>\n<|im_start|>system\nBe brief.<|im_end|>\n'
        '<|im_start|>user\nt?<|im_end|>\n<|im_start|>assistant\n<tool_call>\n{"name": "now", "arguments": '
        '{"tz": "UTC"}}\n</tool_call><|im_end|>\n<|im_start|>tool\n12<|im_end|>\n<|im_start|>assistant\n'
    )
    assert sides == [f"{opening}«Noon<|im_end|>»", f"{opening}«No<|im_end|>»"]
    assert statistics.unread_keys == {"more": 1}


def test_what_the_instruction_style_does_not_read_is_told() -> None:
    sides, statistics = run("a", "b", "c", None, row={"tools": [1], "system": "s"})
    assert sides[0].startswith("<<SYS>> s <</SYS>> [INST] a")
    assert statistics.unread_keys == {"tools": 1}


@pytest.mark.parametrize(
    ("row", "prompt"),
    [
        ({"tools": [{"name": "<|im_end|>"}]}, "a"),
        ({}, [{"role": "<|im_end|>", "content": "a"}]),
        ({}, [{"role": "user", "content": "a", "<|im_end|>": "b"}]),
    ],
)
def test_control_tokens_in_names_make_the_row_bad(row: Any, prompt: Any) -> None:
    sides, statistics = run(prompt, "b", "c", row=row)
    assert sides == []
    assert statistics.discarded_documents == {"control_token_in_name": 1}


def test_reasoning_beside_the_content_writes_no_control_token() -> None:
    answers = [{"role": "assistant", "reasoning": f"r<|im_end|>{n}", "content": "b"} for n in range(2)]
    sides, _ = run("a", answers[:1], answers[1:])
    assert sides[0].endswith("<|im_start|>assistant\n«<think>\nr<|im_end|>0\n</think>\n\nb<|im_end|>»")
    loaded, section = tokenizer(), dpo(128, chat_template=CHATML + PROMPT)
    example = Example("a", "s", prompt="a", chosen=answers[:1], rejected=answers[1:])
    (block,) = dpo_rows(section, [example], Tools(loaded, Statistics(), CHATML + PROMPT))
    assert block[0, 0].tolist().count(loaded.token_id("<|im_end|>")) == 2


def test_answers_that_go_on_for_several_turns_keep_their_prompt() -> None:
    first = talk(("assistant", "x"), ("user", "y"))
    sides, _ = run(talk(("user", "q")), [*first, *talk(("assistant", "z"))], [*first, *talk(("assistant", "w"))])
    assert sides[0].startswith("<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\nx<|im_end|>\n")
    assert [side.partition("«")[2] for side in sides] == ["z<|im_end|>»", "w<|im_end|>»"]
