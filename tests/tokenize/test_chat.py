"""Conversations through chat templates: ids, what is learned, and what no message can do."""

import json
from collections.abc import Callable, Sequence
from datetime import date
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.config.datasets.modes import ChatDataset
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes import turns
from corpus_assets.tokenize.modes.chat.chat import chat_encoder, chat_rows, chat_vsl_rows
from corpus_assets.tokenize.modes.chat.dialogues import Dialogue, TemplateFault
from corpus_assets.tokenize.modes.chat.encoding import ChatEncoder, ChatSequence
from corpus_assets.tokenize.modes.chat.input import talk_of
from corpus_assets.tokenize.modes.chat.template import ChatTemplate
from corpus_assets.tokenize.modes.mode import Tools
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer
from resources.errors import ConfigError
from resources.formats.examples import Example, Messages
from tests.golden import shared
from tests.tokenize.sections import chat
from tests.tokenize.tokenizers_for_tests import load

Rows = NDArray[np.int32]
CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}"
)
LLAMA_2 = """{% if messages[0]['role'] == 'system' %}{% set turns = messages[1:] %}
{% set system = '<<SYS>>\\n' + messages[0]['content'] + '\\n<</SYS>>\\n\\n' %}{% else %}{% set turns = messages %}
{% set system = '' %}{% endif %}
{%- for message in turns %}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}
{%- set content = system + message['content'] if loop.first else message['content'] %}
{%- if message['role'] == 'user' %}{{ '<s>[INST] ' + content.strip() + ' [/INST]' }}
{%- else %}{{ ' ' + content.strip() + ' </s>' }}{% endif %}
{%- endfor %}"""
LLAMA_3 = """{% for message in messages %}
{% set text = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim %}
{% if loop.index0 == 0 %}{% set text = bos_token + text %}{% endif %}
{{- text + '<|eot_id|>' }}
{%- endfor %}"""
ZEPHYR = """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>\\n'  + message['content'] + eos_token }}
{% endif %}
{% endfor %}"""
TOOLS = """{% for message in messages %}
<|im_start|>{{ message.role }}
{% if message.content %}{{ message.content }}{% endif %}
{% for call in message.tool_calls or [] %}
<tool_call>{{ {"name": call.function.name, "arguments": call.function.arguments} | tojson }}</tool_call>
{% endfor %}
<|im_end|>
{% endfor %}"""
TEMPLATES = {"chatml": CHATML, "llama-2": LLAMA_2, "llama-3": LLAMA_3, "zephyr": ZEPHYR, "own": None}
CONTROL = ("<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")


@cache
def tokenizer() -> LoadedTokenizer:
    """The tinyhf tokenizer with the control tokens of the templates."""
    loaded = load("tinyhf")
    for token in CONTROL:
        loaded = loaded.with_token(token)
    return loaded


def talk(*said: tuple[str, str]) -> Messages:
    return [{"role": role, "content": content} for role, content in said]


def example(messages: Messages, name: str = "") -> Example:
    return Example(name, "", messages=messages)


def encoder_of(section: ChatDataset, loaded: LoadedTokenizer | None = None) -> ChatEncoder:
    return chat_encoder(section, loaded or tokenizer(), section.chat_template)


def encoded(encoder: ChatEncoder, messages: Messages) -> ChatSequence:
    written = encoder.write(talk_of(example(messages))[0])
    assert written is not None
    return encoder.encode(written)


def learned(messages: Messages, section: ChatDataset) -> list[str]:
    """The text of every learned run of tokens."""
    sequence = encoded(encoder_of(section), messages)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], sequence.learned.astype(int), [0]])))
    return [tokenizer().decode(sequence.ids[start:stop]) for start, stop in zip(edges[::2], edges[1::2], strict=True)]


def rows(examples: Sequence[Example], section: ChatDataset) -> tuple[Rows, Statistics]:
    statistics = Statistics()
    blocks = chat_rows(section, examples, Tools(tokenizer(), statistics, section.chat_template))
    return np.concatenate([np.empty((0, 3, section.sequence_length), np.int32), *blocks]), statistics


def packed(examples: Sequence[Example], section: ChatDataset) -> tuple[Rows, Statistics]:
    statistics = Statistics()
    blocks = chat_vsl_rows(section, examples, Tools(tokenizer(), statistics, section.chat_template))
    return np.concatenate([np.empty((0, 5, section.sequence_length), np.int32), *blocks]), statistics


TALK = talk(
    ("system", "Be brief."), ("user", " What? "), ("assistant", "This é."), ("user", "So"), ("assistant", "Yes")
)


@pytest.mark.parametrize("name", TEMPLATES)
def test_ids_are_those_of_the_rendered_text(name: str) -> None:
    encoder = encoder_of(chat(512, chat_template=TEMPLATES[name]))
    written = encoder.write(talk_of(example(TALK))[0])
    assert written is not None
    aligned, ids = written.aligned, encoder.encode(written).ids
    np.testing.assert_array_equal(ids, tokenizer().encode_trusted(aligned.text, bos=False))
    contents = [aligned.text[content.start : content.stop].strip() for content in aligned.contents]
    assert contents == [message["content"].strip() for message in TALK]


def test_rendered_texts() -> None:
    values = {"bos_token": "<s>", "eos_token": "</s>"}
    assert ChatTemplate(CHATML).render(Dialogue(TALK[1:3]), values).text == (
        "<|im_start|>user\n What? <|im_end|>\n<|im_start|>assistant\nThis é.<|im_end|>\n"
    )
    assert ChatTemplate(LLAMA_2).render(Dialogue(TALK[:3]), values).text == (
        "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\n What? [/INST] This é. </s>"
    )
    assert ChatTemplate(LLAMA_3).render(Dialogue(TALK[1:3]), values).text == (
        "<s><|start_header_id|>user<|end_header_id|>\n\nWhat?<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\nThis é.<|eot_id|>"
    )
    assert (
        ChatTemplate(ZEPHYR).render(Dialogue(TALK[1:3]), values).text
        == "<|user|>\n What? </s>\n<|assistant|>\nThis é.</s>\n"
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("chatml", ["This é.<|im_end|>", "Yes<|im_end|>"]),
        ("llama-2", [" This é. </s>", " Yes </s>"]),
        ("llama-3", ["This é.<|eot_id|>", "Yes<|eot_id|>"]),
        ("zephyr", ["This é.</s>", "Yes</s>"]),
        ("own", ["This é.</s>", "Yes</s>"]),
    ],
)
def test_answers_and_their_ends_are_learned(name: str, expected: list[str]) -> None:
    section = chat(512, chat_template=TEMPLATES[name])
    # A token that holds the template's space and the answer's first letters is one of the answer.
    assert [text.strip() for text in learned(TALK, section)] == [text.strip() for text in expected]
    last = section.model_copy(update={"train_on": "last_turn"})
    assert [text.strip() for text in learned(TALK, last)] == [expected[-1].strip()]


def test_a_character_of_several_tokens_is_learned_whole() -> None:
    messages = talk(("user", "x"), ("assistant", "日本"), ("user", "y"))
    section = chat(64, chat_template="{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}")
    encoder = encoder_of(section)
    sequence = encoded(encoder, messages)
    assert sequence.ids.size > 4
    assert tokenizer().decode(sequence.ids[sequence.learned]) == "日本<|im_end|>"


def test_other_roles_can_be_learned() -> None:
    section = chat(512, chat_template=CHATML, loss_roles=("system", "user"))
    assert learned(TALK, section) == ["Be brief.<|im_end|>", " What? <|im_end|>", "So<|im_end|>"]


def test_any_order_of_roles() -> None:
    messages = talk(("user", "a"), ("user", "b"), ("assistant", "c"), ("tool", "d"), ("assistant", "e"), ("user", "f"))
    assert learned(messages, chat(512, chat_template=CHATML)) == ["c<|im_end|>", "e<|im_end|>"]


def test_tool_calls_are_learned_whole() -> None:
    call = {"type": "function", "function": {"name": "look_up", "arguments": {"word": 'a "b"\n', "limit": 3}}}
    messages = [*talk(("user", "Find b")), {"role": "assistant", "content": None, "tool_calls": [call]}]
    messages += talk(("tool", "nothing"), ("assistant", "Nothing."))
    text, answer = learned(messages, chat(512, chat_template=TOOLS))
    assert (
        text
        == '<tool_call>{"name": "look_up", "arguments": {"word": "a \\"b\\"\\n", "limit": 3}}</tool_call>\n<|im_end|>'
    )
    assert answer == "Nothing.<|im_end|>"


def test_generation_blocks_say_what_is_learned() -> None:
    source = (
        "{% for m in messages %}{{ '<|im_start|>' }}{% if m.role == 'assistant' %}"
        "{% generation %}{{ m.content }}{{ '<|im_end|>' }}{% endgeneration %}"
        "{% else %}{{ m.content + '<|im_end|>' }}{% endif %}{% endfor %}"
    )
    section = chat(512, chat_template=source, loss_roles=None)
    assert learned(TALK, section) == ["This é.<|im_end|>", "Yes<|im_end|>"]
    assert learned(TALK, section.model_copy(update={"train_on": "last_turn"})) == ["Yes<|im_end|>"]


def test_a_row() -> None:
    loaded = tokenizer()
    messages = talk(("user", "one"), ("assistant", "two"))
    (row,), statistics = rows([example(messages)], chat(64, chat_template=CHATML))
    start, end = loaded.special_tokens["<|im_start|>"], loaded.special_tokens["<|im_end|>"]
    asked, line, answered = loaded.encode_plain(["user\none", "\n", "assistant\ntwo"])
    expected = [start, *asked, end, *line, start, *answered, end, *line]
    np.testing.assert_array_equal(row[0][: len(expected)], expected)
    np.testing.assert_array_equal(row[2][: len(expected) - 1], expected[1:])
    assert ([loaded.pad_id, 0, loaded.pad_id] == row[:, len(expected) :].T).all()
    assert loaded.decode(row[2][row[1] == 1]) == "two<|im_end|>"
    assert statistics.non_pad_tokens == len(expected)


def test_pairs_are_conversations_too() -> None:
    section = chat(64, chat_template=CHATML)
    asked = Example("", "", prompt="one", completion="two")
    listed = Example("", "", prompt=talk(("user", "one")), completion="two")
    expected, _ = rows([example(talk(("user", "one"), ("assistant", "two")))], section)
    np.testing.assert_array_equal(rows([asked], section)[0], expected)
    np.testing.assert_array_equal(rows([listed], section)[0], expected)


@pytest.mark.parametrize("make", [rows, packed])
def test_a_conversation_without_any_text_costs_only_itself(
    make: Callable[[Sequence[Example], ChatDataset], tuple[Rows, Statistics]],
) -> None:
    good, bare = example(talk(("user", "one"), ("assistant", "two"))), example(talk(("user", ""), ("assistant", "")))
    long = example(talk(("user", "one"), ("assistant", "two " * 90), ("user", ""), ("assistant", "")))
    section = chat(64, chat_template=CHATML, truncate="oldest_turns")
    found, statistics = make([bare, good, long], section)
    np.testing.assert_array_equal(found, make([good], section)[0])
    assert statistics.discarded_documents == {"nothing_learned": 1, "too_long": 1}
    assert statistics.unaccounted_tokens == 0


def test_faults_are_counted_and_the_others_kept() -> None:
    good = example(talk(("user", "one two three four five six"), ("assistant", "seven eight nine ten")))
    bad = {
        "template_refused": example(talk(("assistant", "x"))),
        "template_error": example([{"role": "user", "content": 5}]),
        "no_role": example([{"content": "no role"}]),
        "no_messages": example([]),
        "nothing_learned": example(talk(("user", "question alone " * 4))),
        "too_long": example(talk(("user", "a " * 99), ("assistant", "b"))),
        "below_minimum_length": example(talk(("user", "a"), ("assistant", "b"))),
        "control_token_in_name": example(talk(("user", "a"), ("assistant<|im_end|>", "b"))),
    }
    told = list[tuple[Example, str]]()
    statistics = Statistics()
    section = chat(64, chat_template=LLAMA_2, minimum_length=25)
    tools = Tools(tokenizer(), statistics, section.chat_template, lambda one, why: told.append((one, why)))
    found = chat_rows(section, [good, *bad.values(), good], tools)
    assert sum(map(len, found)) == 2
    assert statistics.discarded_documents == dict.fromkeys(bad, 1)
    assert (statistics.processed_files, statistics.successful_files) == (10, 2)
    assert accounted(statistics) == statistics.document_tokens
    said = ["template_refused", "template_error", "no_role", "no_messages", "control_token_in_name"]
    assert [one for one, _ in told] == [bad[reason] for reason in said]
    assert all(reason in why for reason, (_, why) in zip(said, told, strict=True))


def test_contents_a_template_changes_cannot_be_told() -> None:
    source = "{% for m in messages %}{{ m.content | upper }}<|im_end|>{% endfor %}"
    _, statistics = rows([example(talk(("assistant", "two words")))], chat(64, chat_template=source))
    assert statistics.discarded_documents == {"template_alignment": 1}


def test_a_part_of_a_content_is_found() -> None:
    last = "m.content.split('</think>')[-1].strip()"
    source = "{% for m in messages %}{{ m.role + ': ' + " + last + " + '<|im_end|>' }}{% endfor %}"
    messages = talk(("user", "a"), ("assistant", "<think>hm</think>\n\nb c"))
    assert learned(messages, chat(64, chat_template=source)) == [" b c<|im_end|>"]


def test_texts_the_template_leaves_out_are_counted() -> None:
    source = "{% for m in messages %}{{ m.content + '<|im_end|>' }}{% endfor %}"
    thought = [*talk(("user", "a")), {"role": "assistant", "content": "b", "reasoning_content": "secret"}]
    _, statistics = rows([example(thought)], chat(64, chat_template=source))
    assert statistics.kinds["texts_not_rendered"] == 1


def test_truncation() -> None:
    messages = TALK[:1] + TALK[1:] * 3
    whole, _ = rows([example(messages)], chat(256, chat_template=CHATML))
    (row,), statistics = rows([example(messages)], chat(48, chat_template=CHATML, truncate="end"))
    np.testing.assert_array_equal(row[0], whole[0][0][:48])
    np.testing.assert_array_equal(row[2], whole[0][2][:48])
    assert statistics.truncated_documents == {"end": 1}
    assert accounted(statistics) == statistics.document_tokens
    _, statistics = rows([example(messages)], chat(8, chat_template=CHATML, truncate="end"))
    assert statistics.discarded_documents == {"too_long": 1}  # no answer is left
    length = len(ids_of(TALK)) + 2
    found, statistics = rows([example(messages)], chat(length, chat_template=CHATML, truncate="oldest_turns"))
    short, _ = rows([example(TALK)], chat(length, chat_template=CHATML))
    np.testing.assert_array_equal(found, short)  # the system message stays in front
    assert statistics.truncated_documents == {"oldest_turns": 1}
    assert accounted(statistics) == statistics.document_tokens


def ids_of(messages: Messages) -> Rows:
    encoder = encoder_of(chat(512, chat_template=CHATML))
    return encoded(encoder, messages).ids


def accounted(statistics: Statistics) -> int:
    known = statistics.loss_valid_tokens + statistics.unlearned_labels + statistics.dropped_tokens.total()
    return known + statistics.sequence_starts


PIECES = st.sampled_from(
    [*CONTROL, "<s>", "</s>", "<|user|>", "assistant", "\n", " ", "a", "é", "日", "<|im_", "end|>"]
)
CONTENTS = st.lists(PIECES, min_size=1, max_size=6).map("".join)
TALKS = st.lists(st.tuples(CONTENTS, CONTENTS), min_size=1, max_size=3).map(
    lambda said: [message for ask, answer in said for message in talk(("user", ask), ("assistant", answer))]
)


@pytest.mark.parametrize("name", TEMPLATES)
@settings(max_examples=40, deadline=None)
@given(messages=TALKS)
def test_no_message_makes_a_control_token(name: str, messages: Messages) -> None:
    loaded = tokenizer()
    encoder = encoder_of(chat(512, chat_template=TEMPLATES[name]), loaded)
    harmless = [message | {"content": "x"} for message in messages]
    ids = encoded(encoder, messages).ids
    expected = encoded(encoder, harmless).ids
    control = list(loaded.special_tokens.values())
    np.testing.assert_array_equal(ids[np.isin(ids, control)], expected[np.isin(expected, control)])


@settings(max_examples=20, deadline=None)
@given(talks=st.lists(TALKS, max_size=6), inverted=st.booleans(), size=st.integers(1, 60))
def test_laws_of_rows(talks: list[Messages], inverted: bool, size: int) -> None:
    section = chat(48, chat_template=CHATML, inverted_mask=inverted)
    examples = [example(messages) for messages in talks]
    for make in (rows, packed):
        found, statistics = make(examples, section)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(turns, "BATCH_CHARACTERS", size)
            again, recounted = make(examples, section)
        np.testing.assert_array_equal(found, again)
        assert statistics == recounted
        mask = found[:, 1] ^ int(inverted)
        assert mask.sum() == statistics.loss_valid_tokens
        inside = found[:, 4, 1:] > 0 if found.shape[1] == 5 else mask[:, :-1] == 1
        assert (found[:, 0, 1:][inside] == found[:, 2, :-1][inside]).all()
        assert accounted(statistics) == statistics.document_tokens
        assert statistics.processed_files == len(talks)
        kept = statistics.sequences_before_packing if found.shape[1] == 5 else len(found)
        assert kept == statistics.successful_files


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{{ raise_exception('no') }}", "template_refused"),
        ("{{ messages.__class__.__mro__ }}", "template_error"),
        ("{{ messages.append(1) }}", "template_error"),
        ("{{ missing.value }}", "template_error"),
        ("{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}", "template_error"),
    ],
)
def test_what_a_template_may_not_do(source: str, reason: str) -> None:
    with pytest.raises(TemplateFault) as caught:
        ChatTemplate(source).render(Dialogue(TALK), {})
    assert caught.value.reason == reason


def test_templates_that_cannot_be_used() -> None:
    for source in ("{% for %}", "{{ 'a' | random }}", "a" * (2 << 20), "{{ strftime_now('%d') }}"):
        with pytest.raises(ConfigError, match="chat template"):
            ChatTemplate(source)
    with pytest.raises(ConfigError, match="no chat template"):
        encoder_of(chat(8), load("tiny"))


def test_the_day_is_fixed_or_absent() -> None:
    guarded = "{% if strftime_now is defined %}{{ strftime_now('%d %b %Y') }}{% else %}none{% endif %}"
    assert ChatTemplate(guarded).render(Dialogue([]), {}).text == "none"
    assert ChatTemplate(guarded, day=date(2024, 7, 26)).render(Dialogue([]), {}).text == "26 Jul 2024"


def test_json_and_loop_controls() -> None:
    source = "{% for m in messages %}{% if loop.index > 1 %}{% break %}{% endif %}{{ m | tojson }}{% endfor %}"
    assert (
        ChatTemplate(source).render(Dialogue(talk(("user", "<é>"), ("user", "b"))), {}).text
        == '{"role": "user", "content": "<é>"}'
    )


@pytest.mark.parametrize(("folder", "file"), [("dpo", "chat.jsonl"), ("sft", "seed_tasks.jsonl")])
def test_real_data(folder: str, file: str) -> None:
    with shared("data", folder, file).open() as lines:
        records = [json.loads(line) for line, _ in zip(lines, range(100), strict=False)]
    examples = [
        example(row["prompt"] + row["chosen"])
        if "chosen" in row
        else Example("", "", prompt=row["prompt"], completion=row["completion"])
        for row in records
    ]
    found, statistics = rows(examples, chat(2048, chat_template=CHATML))
    assert len(found) == len(records) - statistics.discarded_documents["too_long"] > len(records) * 0.9
    assert not statistics.discarded_documents.keys() - {"too_long"}
    assert accounted(statistics) == statistics.document_tokens
