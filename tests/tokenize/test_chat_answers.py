"""What is learned of an answer, in templates of every kind: from the prompt for it to the end of its turn."""

import json
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.config.ready_templates import ready_template
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes.chat.chat import CHAT, chat_control, chat_rows
from corpus_assets.tokenize.modes.chat.dialogues import Dialogue
from corpus_assets.tokenize.modes.chat.input import talk_of
from corpus_assets.tokenize.modes.chat.reads import reads_of
from corpus_assets.tokenize.modes.chat.template import ChatTemplate
from corpus_assets.tokenize.modes.mode import Tools
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer, TokenizerSpec, load_tokenizer
from resources.errors import ConfigError
from resources.formats.examples import Example, Messages
from tests.tokenize.sections import chat

MARKS = ("<|im_start|>", "<|im_end|>", "<|eot|>", "<|call|>", "<think>", "</think>", "<tool_call>", "</tool_call>")
BODY = """
{%- if m.reasoning %}{{ '<think>\\n' + m.reasoning + '\\n</think>\\n\\n' }}{% endif %}{{ m.content or '' }}
{%- for call in m.tool_calls or [] -%}
{{ '<tool_call>\\n' + (call.function | tojson) + '\\n</tool_call>' }}{% endfor %}"""
CHATML = (
    "{%- if tools %}{{ '<|im_start|>system\\n' + (tools | tojson) + '<|im_end|>\\n' }}{% endif %}"
    "{%- for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}" + BODY + "{{ '<|im_end|>\\n' }}{% endfor %}"
)
PROMPT = "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
FORGETS = (
    "{%- for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}{%- set said = m.content.split('</think>')[-1] %}"
    "{{- m.content if loop.last else said.lstrip() }}{{ '<|im_end|>\\n' }}{% endfor %}" + PROMPT
)
CALL = {"type": "function", "function": {"name": "now", "arguments": {"tz": "UTC", "n": None}}}


def tokenizer(*, special: bool = True, spelled: bool = False) -> LoadedTokenizer:
    """Bytes, and the marks as added tokens, which are special or not."""
    vocabulary = {letter: n for n, letter in enumerate(_alphabet())}
    names = [] if spelled else [*MARKS, "<eos>"]
    added = [
        {"id": 256 + n, "content": name, "special": special or name == "<eos>", "normalized": False}
        | {"single_word": False, "lstrip": False, "rstrip": False}
        for n, name in enumerate(names)
    ]
    definition: dict[str, Any] = {
        **{"version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None},
        "added_tokens": added,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "vocab": vocabulary, "merges": []},
    }
    files = {"tokenizer.json": json.dumps(definition).encode()}
    return load_tokenizer(files, TokenizerSpec("tokenizer_json", eos="!" if spelled else "<eos>"))


def _alphabet() -> list[str]:
    """GPT-2's letter for each byte."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(n) if n in shown else chr(next(others)) for n in range(256)]


def talk(*said: tuple[str, str]) -> Messages:
    return [{"role": role, "content": content} for role, content in said]


def shown(
    messages: Messages, template: str, loaded: LoadedTokenizer | None = None, row: Any = None, **options: Any
) -> list[str]:
    """The text of each row, what is learned between « and »."""
    section = chat(512, chat_template=template, **options)
    loaded = loaded or tokenizer()
    loaded = loaded.with_control(chat_control(section, loaded, template))
    statistics, faults = Statistics(), list[str]()
    tools = Tools(loaded, statistics, template, lambda _, fault: faults.append(fault))
    metadata = msgspec.Raw(json.dumps(row or {}).encode())
    blocks = chat_rows(section, [Example("a", "s", messages=messages, metadata=metadata)], tools)
    texts = [marked(loaded, one) for block in blocks for one in block]
    assert not faults, faults
    return texts


def marked(loaded: LoadedTokenizer, row: Any) -> str:
    inputs, mask, labels = row
    ids = [*inputs[:1], *labels]
    learned = np.concatenate([[0], mask])
    runs = np.flatnonzero(np.diff(learned, prepend=0, append=0))
    parts, before = list[str](), 0
    for start, stop in zip(runs[::2], runs[1::2], strict=True):
        parts += [loaded.decode(ids[before:start]), "«", loaded.decode(ids[start:stop]), "»"]
        before = stop
    end = max((n for n, id_ in enumerate(ids) if id_ != loaded.pad_id), default=-1) + 1
    return "".join([*parts, loaded.decode(ids[before:end])])


def test_a_tool_call_is_learned_from_its_first_token_and_null_arguments_go() -> None:
    messages = [*talk(("user", "Time?")), {"role": "assistant", "content": "", "tool_calls": [CALL]}]
    messages += talk(("tool", "12:00"), ("assistant", "Noon."))
    (text,) = shown(messages, CHATML + PROMPT)
    said = '<tool_call>\n{"name": "now", "arguments": {"tz": "UTC"}}\n</tool_call><|im_end|>'
    assert text == (
        f"<|im_start|>user\nTime?<|im_end|>\n<|im_start|>assistant\n«{said}»\n"
        "<|im_start|>tool\n12:00<|im_end|>\n<|im_start|>assistant\n«Noon.<|im_end|>»\n"
    )


@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize("prompt", [PROMPT, ""])
def test_reasoning_and_ends_are_learned_whatever_a_tokenizer_says_of_its_tokens(special: bool, prompt: str) -> None:
    messages = [*talk(("user", "a")), {"role": "assistant", "reasoning": "hm", "content": "b"}]
    (text,) = shown(messages, CHATML + prompt, tokenizer(special=special))
    assert text.endswith("<|im_start|>assistant\n«<think>\nhm\n</think>\n\nb<|im_end|>»\n")


def test_markers_that_somebody_spells_are_plain_and_tags_of_an_answer_are_ids() -> None:
    loaded = tokenizer(special=False)
    messages = talk(("user", "x<|im_end|>"), ("assistant", "<think>\ny\n</think>\n\nz<|im_end|>"))
    (text,) = shown(messages, CHATML + PROMPT, loaded)
    assert text.endswith("«<think>\ny\n</think>\n\nz<|im_end|><|im_end|>»\n")
    section = chat(512, chat_template=CHATML + PROMPT)
    controlled = loaded.with_control(chat_control(section, loaded, CHATML + PROMPT))
    (block,) = chat_rows(
        section, [Example("a", "s", messages=messages)], Tools(controlled, Statistics(), CHATML + PROMPT)
    )
    ids = block[0][0].tolist()
    assert ids.count(controlled.token_id("<|im_end|>")) == 2
    assert ids.count(controlled.token_id("<think>")) == 1


def test_an_answer_that_a_later_turn_changes_has_a_row_of_its_own() -> None:
    messages = talk(("user", "a"), ("assistant", "<think>\nhm\n</think>\n\nb"), ("user", "c"), ("assistant", "d"))
    first, second = shown(messages, FORGETS)
    assert first == "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n«<think>\nhm\n</think>\n\nb<|im_end|>»\n"
    assert second.endswith(
        "assistant\nb<|im_end|>\n<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n«d<|im_end|>»\n"
    )
    (only,) = shown(messages, FORGETS, train_on="last_turn")
    assert only == second


def test_an_end_that_only_the_last_turn_has_is_learned_for_every_answer() -> None:
    template = "{% for m in messages %}{{ m.role + ': ' + m.content }}{{ '<eos>' if loop.last else '\\n' }}{% endfor %}"
    texts = shown(talk(("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")), template)
    assert texts == ["user: a\nassistant: «b<eos>»", "user: a\nassistant: b\nuser: c\nassistant: «d<eos>»"]


def test_a_template_that_always_writes_the_next_prompt_teaches_no_header() -> None:
    texts = shown(talk(("user", "a"), ("assistant", "b")), CHATML + "{{ '<|im_start|>assistant\\n' }}")
    assert texts == ["<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n«b<|im_end|>»\n<|im_start|>assistant\n"]


def test_calls_may_end_otherwise_than_texts() -> None:
    template = (
        "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + (m.content or '') }}"
        "{% for c in m.tool_calls or [] %}{{ c.function.name }}{% endfor %}"
        "{{ '<|call|>' if m.tool_calls else '<|eot|>' }}{% endfor %}" + PROMPT
    )
    messages = [
        *talk(("user", "a")),
        {"role": "assistant", "tool_calls": [CALL]},
        *talk(("tool", "b"), ("assistant", "c")),
    ]
    (text,) = shown(messages, template)
    assert text.count("«") == 2 and "assistant\n«now<|call|>»" in text and text.endswith("assistant\n«c<|eot|>»")


def test_a_prompt_that_goes_on_otherwise_ends_at_its_last_border() -> None:
    template = (
        CHATML + "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>\\n\\n</think>\\n\\n' }}{% endif %}"
    )
    messages = [*talk(("user", "a")), {"role": "assistant", "content": "", "tool_calls": [CALL]}]
    for special in (True, False):
        (text,) = shown(messages, template, tokenizer(special=special))
        assert "<|im_start|>assistant\n«<tool_call>\n" in text


def test_rows_bring_tools_a_system_text_and_values() -> None:
    answer = talk(("user", "a"), ("assistant", "b"))
    tools = [{"name": "now", "extra": None}]
    for tool_list in (tools, json.dumps(tools)):
        (text,) = shown(answer, CHATML + PROMPT, row={"tools": tool_list, "system": "Be brief."})
        begin = (
            '<|im_start|>system\n[{"name": "now"}]<|im_end|>\n<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user'
        )
        assert text.startswith(begin)
    named = "{{ mood }}" + CHATML + PROMPT
    for row in ({"template_values": {"mood": "sad"}}, {"chat_template_kwargs": '{"mood": "sad"}'}):
        assert shown(answer, named, row=row, template_values={"mood": "gay"})[0].startswith("sad<|im_start|>")
    assert shown(answer, named, template_values={"mood": "gay"})[0].startswith("gay<|im_start|>")


def test_messages_say_if_they_are_learned() -> None:
    said = talk(("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"))
    for key in ("weight", "train", "loss"):
        (text,) = shown([*said[:1], said[1] | {key: 0}, *said[2:]], CHATML + PROMPT)
        assert "\nb<|im_end|>" in text and text.endswith("«d<|im_end|>»\n")
        (text,) = shown([said[0] | {key: True}, *said[1:2]], CHATML + PROMPT)
        assert text.count("«") == 2


def test_null_arguments_go_in_the_older_form_of_a_call_too() -> None:
    template = "{% for m in messages %}{{ m.content + (m.function_call | tojson if m.function_call else '') }}<eos>"
    call = {"role": "assistant", "content": "b", "function_call": {"name": "f", "arguments": {"x": None, "y": 1}}}
    (text,) = shown([*talk(("user", "a")), call], template + "{% endfor %}")
    assert text == 'a<eos>«b{"name": "f", "arguments": {"y": 1}}<eos>»'


def test_a_key_without_a_value_is_no_key_that_nothing_reads() -> None:
    row = msgspec.Raw(b'{"more": 1, "none": null, "tools": null}')
    _, unread = talk_of(Example("a", "s", messages=talk(("user", "a"), ("assistant", "b")), metadata=row))
    assert unread == ["more"]


def test_what_the_template_does_not_name_is_a_key_that_nothing_reads() -> None:
    given = {"tools": [1], "documents": [2], "system": "c", "template_values": {"mood": 1, "bos_token": "x"}}
    messages = talk(("system", "s"), ("user", "a"), ("assistant", "b"))
    example = Example("a", "s", messages=messages, metadata=msgspec.Raw(json.dumps(given).encode()))
    _, unread = talk_of(example, reads_of("{{ tools }}{{ bos_token }}{{ messages }}"))
    assert unread == ["documents", "system", "template_values.mood"]


def test_a_key_of_a_message_that_the_template_does_not_name_is_one_that_nothing_reads() -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [{"name": "f"}], "name": None, "weight": 1}
    example = Example("a", "s", messages=[*talk(("user", "a")), call])
    _, unread = talk_of(example, reads_of(ready_template("chatml")))
    assert unread == ["messages.tool_calls"]
    _, unread = talk_of(example, reads_of(ready_template("qwen3")))
    assert unread == []


@pytest.mark.parametrize(
    ("template", "keys"),
    [
        ("{% for m in messages %}{{ m.role ~ m['content'] }}{% endfor %}", {"role", "content"}),
        ("{% for m in messages[1:] %}{{ m.get('content') }}{{ messages | length }}{% endfor %}", {"get", "content"}),
        ("{% macro text(m) %}{{ m.content }}{% endmacro %}{{ text(messages[0]) }}", {"content"}),
        ("{% macro text(m) %}{{ m | tojson }}{% endmacro %}{{ text(messages[0]) }}", None),
        ("{% set ns = namespace(of=messages) %}{% for m in ns.of %}{{ m | tojson }}{% endfor %}", None),
        ("{% for m in messages %}{% for k, v in m.items() %}{{ v }}{% endfor %}{% endfor %}", None),
        ("{% for m in messages %}{% set k = 'con' ~ 'tent' %}{{ m[k] }}{% endfor %}", None),
        ("{% for m in messages %}{{ m.get(k) }}{% endfor %}", None),
        ("{% set last = messages[-1] %}{{ last }}", None),
    ],
)
def test_a_template_that_writes_whole_messages_may_read_any_key(template: str, keys: set[str] | None) -> None:
    assert reads_of(template).keys == keys


def faults_of(messages: Messages, row: Any = None) -> list[str]:
    faults = list[str]()
    metadata = msgspec.Raw(json.dumps(row or {}).encode())
    tools = Tools(tokenizer(), Statistics(), CHATML + PROMPT, lambda _, fault: faults.append(fault))
    example = Example("a", "s", messages=messages, metadata=metadata)
    assert not list(chat_rows(chat(512, chat_template=CHATML + PROMPT), [example], tools))
    return faults


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"tools": "{"}, "bad_tools: tools is no JSON"),
        ({"tools": {"name": "now"}}, "bad_tools: tools is a dict"),
        ({"tools": ["{"]}, "bad_tools: one of the tools is no JSON"),
        ({"tools": ['"now"']}, "bad_tools: the text of one of the tools is a str"),
        ({"tools": ['{"name": "<|im_end|>"}']}, "control_token_in_name"),
        ({"documents": 5}, "bad_documents"),
        ({"template_values": [1]}, "bad_template_values"),
        ({"system": ["x"]}, "bad_system"),
        ({"tools": [{"name": "<|im_end|>"}]}, "control_token_in_name"),
    ],
)
def test_what_a_row_says_wrong_is_told(row: Any, reason: str) -> None:
    (fault,) = faults_of(talk(("user", "a"), ("assistant", "b")), row)
    assert fault.startswith(reason)


def test_keys_that_nothing_reads_are_counted() -> None:
    statistics = Statistics()
    example = Example("a", "s", messages=talk(("user", "a"), ("assistant", "b")), metadata=msgspec.Raw(b'{"topic": 1}'))
    list(chat_rows(chat(64, chat_template=CHATML), [example] * 3, Tools(tokenizer(), statistics, CHATML)))
    assert statistics.unread_keys == {"topic": 3}


@pytest.mark.parametrize("roles", [["assistant"], None])
def test_a_template_whose_answers_have_no_end_is_refused(roles: list[str] | None) -> None:
    body = "{% for m in messages %}{% generation %}{{ m.content + '<|im_end|>' }}{% endgeneration %}{% endfor %}"
    section = chat(64, chat_template=body, loss_roles=roles)
    with pytest.raises(ConfigError, match=r"ends an answer with '<\|im_end\|>', and no control token .* learn to stop"):
        CHAT.check(section, tokenizer(spelled=True), body)
    CHAT.check(section, tokenizer(), body)


def test_a_template_that_wants_a_system_message_has_to_teach_an_end_too() -> None:
    body = "{% if messages[0].role != 'system' %}{{ raise_exception('no system') }}{% endif %}" + CHATML
    with pytest.raises(ConfigError, match="learn to stop"):
        CHAT.check(chat(64, chat_template=body), tokenizer(spelled=True), body)
    CHAT.check(chat(64, chat_template=body), tokenizer(), body)


def test_begin_of_text_is_that_of_the_post_processor_where_nothing_names_it() -> None:
    loaded = tokenizer()
    backend = loaded.backend.with_around(["<eos>"], [])
    files = {"tokenizer.json": json.dumps(backend.original).encode()}  # type: ignore[attr-defined]
    again = load_tokenizer(files, TokenizerSpec("tokenizer_json", eos="<|eot|>"))
    assert again.template_values["bos_token"] == "<eos>"
    assert shown(talk(("user", "a"), ("assistant", "b")), "{{ bos_token }}" + CHATML, again)[0].startswith("<eos><|im_")


WORDS = st.text(st.sampled_from("ab \né<|>"), min_size=1, max_size=12).filter(str.strip)
SPELLED = st.lists(st.one_of(WORDS, st.sampled_from(MARKS[:4])), min_size=1, max_size=3).map("".join)
TURN = st.tuples(SPELLED, SPELLED, st.booleans())


@settings(max_examples=40, deadline=None)
@given(turns=st.lists(TURN, min_size=1, max_size=4), special=st.booleans(), system=st.booleans())
def test_learned_is_what_follows_each_prompt(turns: list[tuple[str, str, bool]], special: bool, system: bool) -> None:
    """Character by character, from the renderings alone: the oracle knows nothing of the encoder."""
    messages: Messages = talk(("system", "s")) if system else []
    for asked, answered, called in turns:
        messages += talk(("user", asked.strip()))
        messages.append({"role": "assistant", "content": answered.strip()} | ({"tool_calls": [CALL]} if called else {}))
    template = ChatTemplate(CHATML + PROMPT)
    clean = [message | ({"tool_calls": [_bare(CALL)]} if "tool_calls" in message else {}) for message in messages]
    expected, before = "", 0
    for number, message in enumerate(clean):
        if message["role"] == "assistant":
            prompt = template.render(Dialogue(clean[:number], generation_prompt=True), {}).text
            whole = template.render(Dialogue(clean[: number + 1]), {}).text
            expected += f"{prompt[before:]}«{whole[len(prompt) : -1]}»"
            before = len(whole) - 1
    text = template.render(Dialogue(clean), {}).text
    assert shown(messages, CHATML + PROMPT, tokenizer(special=special)) == [expected + text[before:]]


def _bare(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    return call | {"function": function | {"arguments": {"tz": "UTC"}}}
