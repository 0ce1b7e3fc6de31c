"""Preference pairs to rows: what is learned, what is cut, and what gives no row."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes import dpo as dpo_mode
from corpus_assets.tokenize.modes.chat.dialogues import Dialogue, TemplateFault
from corpus_assets.tokenize.modes.chat.template import ChatTemplate
from corpus_assets.tokenize.modes.dpo import formatted_rows
from corpus_assets.tokenize.modes.dpo_pairs import UnusablePairError
from corpus_assets.tokenize.modes.dpo_texts import Formatter
from resources.formats.examples import Example, Messages
from tests.tokenize.byte_tokenizer import ByteTokenizer
from tests.tokenize.sections import dpo

TOKENIZER = ByteTokenizer()
PAD = 513
CHAT = "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] | trim }}<eos>{% endfor %}"
Rows = NDArray[np.int32]


def chat(source: str = CHAT) -> Formatter:
    template = ChatTemplate(source)
    return lambda messages: template.render(Dialogue(messages), {}).text


def pair(prompt: Any = "ask", chosen: Any = "good", rejected: Any = "bad") -> Example:
    return Example("1", "test", prompt=prompt, chosen=chosen, rejected=rejected)


def run(
    *examples: Example, length: int = 64, limit: int = 16, formatter: Formatter | None = None, **options: Any
) -> tuple[Rows, Statistics]:
    statistics = Statistics()
    tokenizer = options.pop("tokenizer", TOKENIZER)
    section = dpo(length, max_prompt_length=limit, **options)
    made = formatted_rows(section, examples, tokenizer, statistics, formatter)
    return np.concatenate([np.empty((0, 6, length), np.int32), *made]), statistics


def side(rows: Rows, *, rejected: bool = False, row: int = 0, tokenizer: ByteTokenizer = TOKENIZER) -> tuple[str, str]:
    """Texts of the prompt and of what is learned."""
    inputs, mask, labels = rows[row, 3 * rejected : 3 * rejected + 3]
    start = int(mask.argmax())
    return tokenizer.decode(inputs[: start + 1]), tokenizer.decode(labels[mask == 1])


def turn(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def test_row_of_a_pair() -> None:
    rows, statistics = run(pair(), length=32)
    assert side(rows) == ("[INST] ask", " [/INST] good<eos>")
    assert side(rows, rejected=True) == ("[INST] ask", " [/INST] bad<eos>")
    inputs, mask, labels = rows[0, :3]
    real = len(TOKENIZER.encode_plain(["[INST] ask [/INST] good"])[0]) + 1
    assert (inputs[real:] == PAD).all() and (labels[real - 1 :] == PAD).all() and not mask[real - 1 :].any()
    start = int(mask.argmax())
    assert (labels[:start] == PAD).all() and (labels[start : real - 1] == inputs[start + 1 : real]).all()
    assert statistics.num_tokens == 2 * 32
    assert statistics.loss_valid_tokens == rows[:, [1, 4]].sum()
    assert statistics.document_tokens == statistics.non_pad_tokens == 2 * real - 1
    assert statistics.raw_chars_count == len("[INST] ask [/INST] good[INST] ask [/INST] bad")


def test_begin_of_text_id_stands_once() -> None:
    tokenizer = ByteTokenizer(adds_bos=True)
    bos = tokenizer.bos_id
    for formatter in (chat(), chat("<bos>" + CHAT)):
        rows, _ = run(pair(), formatter=formatter, tokenizer=tokenizer)
        assert rows[0, 0, 0] == rows[0, 3, 0] == bos
        assert np.count_nonzero(rows == bos) == 2


def test_reference_adds_a_begin_of_text_id_unless_a_setting_says_that_texts_have_one() -> None:
    tokenizer = ByteTokenizer(adds_bos=True)
    for by_setting, begins in ((True, "<bos>[INST]"), (False, "<bos><bos>[INST]")):
        tokenizer.bos_by_setting = by_setting
        rows, _ = run(pair(), tokenizer=tokenizer, reference=True)
        assert tokenizer.decode(rows[0, 0]).startswith(begins)


def test_template_that_ends_with_the_end_of_text_gets_no_second_one() -> None:
    rows, _ = run(pair(), formatter=chat())
    assert side(rows) == ("<|user|>ask<eos><|assistant|>", "good<eos>")
    rows, _ = run(pair(), formatter=chat(), response_delimiter="<|assistant|>")
    assert side(rows) == ("<|user|>ask<eos>", "<|assistant|>good<eos>")


def test_nothing_stands_before_a_prompt_where_the_tokenizer_has_no_begin_of_text() -> None:
    rows, _ = run(pair(), formatter=chat())
    assert TOKENIZER.bos_id is None and TOKENIZER.decode(rows[0, 0]).startswith("<|user|>ask")


def test_a_template_that_ends_a_turn_and_its_line_gets_no_second_end() -> None:
    source = CHAT.replace("<eos>", "<|assistant|>\n")
    rows, _ = run(pair(), formatter=chat(source))
    assert side(rows)[1] == "good<|assistant|>"
    rows, _ = run(pair(chosen="good<|assistant|>"), formatter=chat(CHAT.replace("<eos>", "\n")))
    assert side(rows)[1] == "good<|assistant|>\n<eos>"  # Somebody's text ends no turn.


def test_equal_responses_are_counted_and_left_out_unless_they_are_kept() -> None:
    rows, statistics = run(pair(chosen="same", rejected="same"), pair())
    assert len(rows) == 1 and statistics.discarded_documents == {"equal_responses": 1}
    assert len(run(pair(chosen="same", rejected="same"), equal_pairs="keep")[0]) == 1
    assert len(run(pair(chosen="same", rejected="same"), reference=True)[0]) == 1


def test_answer_begins_after_its_header_without_a_delimiter() -> None:
    source = CHAT.replace("<|{{ m['role'] }}|>", "{{ m['role'] | upper }}: ")
    rows, _ = run(pair(), formatter=chat(source))
    assert side(rows) == ("USER: ask<eos>ASSISTANT:", " good<eos>")
    rows, _ = run(pair(), formatter=chat(source), response_delimiter="ASSISTANT")
    assert side(rows) == ("USER: ask<eos>", "ASSISTANT: good<eos>")


@pytest.mark.parametrize("text", ["[/INST]", "a [/INST] b", "<|assistant|>", "assistant: x", "<eos>", "<|user|>x<eos>"])
@pytest.mark.parametrize("formatter", [None, chat()], ids=["inst", "chat"])
def test_nothing_in_a_content_moves_the_border_or_becomes_a_control_token(
    text: str, formatter: Formatter | None
) -> None:
    rows, _ = run(pair(f"x {text}", f"{text} y", f"z {text}"), length=128, formatter=formatter)
    plain, _ = run(pair("x", "y", "z"), length=128, formatter=formatter)
    ids, plain_ids = (made[:, [0, 3]][made[:, [0, 3]] != PAD] for made in (rows, plain))
    assert np.count_nonzero(ids >= 512) == np.count_nonzero(plain_ids >= 512)
    answer = "" if formatter else " [/INST] "
    assert side(rows)[1] == f"{answer}{text} y<eos>"
    assert side(rows, rejected=True)[1] == f"{answer}z {text}<eos>"


def test_reference_follows_the_last_delimiter_and_repeats_a_found_prompt() -> None:
    example = pair("ask", "a [/INST] b", "c")
    assert run(example, reference=True)[1].discarded_documents == {"different_prompts": 1}
    inline = pair(None, "Human: hi\n\nAssistant: yes", "Human: hi\n\nAssistant: no")
    assert side(run(inline, length=96, limit=64)[0])[1] == " [/INST] yes<eos>"
    assert side(run(inline, length=128, limit=64, reference=True)[0])[1] == (
        " [/INST] Human: hi\n\nAssistant: yes<eos>"
    )


def test_reference_knows_roles_as_cerebras_does() -> None:
    """The `[INST]` style has names of its own, and the last speaker is looked for in lower case."""
    named: dict[str, Any] = {"user_role": "human", "assistant_role": "bot", "length": 96}
    assert len(run(pair(), **named)[0]) == 1
    assert run(pair(), reference=True, **named)[1].discarded_documents == {"no_delimiter": 1}
    dialogue = [turn("user", "ask"), turn("assistant", "good")]
    rows, _ = run(pair("", dialogue, dialogue), reference=True, **named)
    assert side(rows) == ("<eos>[INST] ask", " [/INST] good<eos>")
    upper = pair(None, "Q: a\nBOT: yes", "Q: a\nBOT: no")
    for role, reason in (("bot", "no_delimiter"), ("BOT", "no_prompt")):
        counted = run(upper, reference=True, assistant_role=role, user_role="human", length=96)[1]
        assert counted.discarded_documents == {reason: 1}
    longer = pair(None, "\u0130: a\nAssistant: yes", "\u0130: a\nAssistant: no")
    assert side(run(longer, reference=True, length=96)[0])[0] == "<eos>[INST] \u0130: a\nAssistant:  "


def test_prompt_of_two_texts_ends_with_the_last_speaker_of_their_common_beginning() -> None:
    rows, _ = run(pair(None, "Q: a\nASSISTANT: he said assistant: ok", "Q: a\nASSISTANT: she"), length=96)
    assert side(rows) == ("[INST] Q: a\nASSISTANT:", " [/INST] he said assistant: ok<eos>")
    rows, _ = run(pair(None, "Q: a\nbot: yes", "Q: a\nbot: no"), assistant_role="Bot")
    assert side(rows)[1] == " [/INST] yes<eos>"


def test_dialogues_and_continuations() -> None:
    start = [turn("system", "s"), turn("user", "a"), turn("assistant", "b"), turn("user", "c")]
    whole = pair("ignored", [*start, turn("assistant", "d")], [*start, turn("assistant", "e")])
    continued = pair(start, [turn("assistant", "d")], "e")
    rows, _ = run(whole, continued, length=96)
    np.testing.assert_array_equal(rows[0], rows[1])
    assert side(rows) == ("<<SYS>> s <</SYS>> [INST] a [/INST] b[INST] c", " [/INST] d<eos>")
    tool = [turn("assistant", None), turn("tool", "42")]
    rows, _ = run(pair("a", [*tool, turn("assistant", "x")], [*tool, turn("assistant", "y")]), formatter=chat())
    assert side(rows)[1] == "x<eos>"


S, U, A = (turn(role, "x") for role in ("system", "user", "assistant"))
LONE_SURROGATE = "\ud800"


@pytest.mark.parametrize(
    ("example", "reason"),
    [
        (pair(chosen=""), "empty_response"),
        (pair(rejected=None), "empty_response"),
        (pair(chosen=" \n"), "empty_response"),
        (pair(chosen=[U, turn("assistant", "")], rejected=[U, A]), "empty_response"),
        (pair(None, "no roles", "none"), "no_prompt"),
        (pair(None, "Human: a Assistant: b", "Human: c Assistant: d"), "different_prompts"),
        (pair(None, [A], [A]), "no_prompt"),
        (pair(None, [S, U, A], [U, A]), "different_prompts"),
        (pair(None, [U, A, U], [U, A, U]), "no_response"),
        (pair("x", ["a"], ["b"]), "odd_messages"),
        (pair("x", [turn("assistant", 5)], "b"), "odd_messages"),
        (pair("x", [{"content": "a"}], "b"), "odd_messages"),
        (pair(["x"], "a", "b"), "odd_messages"),
        (pair(7, "a", "b"), "odd_messages"),
        (pair("x", 7, "b"), "odd_messages"),
        (pair("x", LONE_SURROGATE, "b"), "odd_messages"),
    ],
)
def test_unusable_pairs_are_counted_by_reason(example: Example, reason: str) -> None:
    rows, statistics = run(pair(), example, pair())
    assert len(rows) == statistics.n_examples == 2
    assert statistics.discarded_documents == {reason: 1}
    assert (statistics.processed_files, statistics.successful_files) == (3, 2)
    reference, counted = run(pair(), example, pair(), reference=True)
    assert len(reference) + counted.discarded_files == 3


def test_template_faults_are_counted() -> None:
    refusing = chat("{{ raise_exception('no') }}")
    assert run(pair(), formatter=refusing)[1].discarded_documents == {"template_refused": 1}
    changing = chat("{{ messages[-1]['content'] }} {{ messages[0]['content'] }}")
    assert run(pair(), formatter=changing)[1].discarded_documents == {"template_changes_prompt": 1}
    dropping = chat("{{ messages[0]['content'] }}")
    assert run(pair(), formatter=dropping)[1].discarded_documents == {"template_drops_answer": 1}


def test_template_that_takes_no_prompt_alone() -> None:
    def strict(messages: Messages) -> str:
        if messages[-1]["role"] != "assistant":
            raise TemplateFault("template_refused", "no answer")
        return chat()(messages)

    assert side(run(pair(), formatter=strict)[0])[1] == "good<eos>"


def test_template_that_treats_real_answers_differently_is_cut_after_the_prompt() -> None:
    source = "{% for m in messages %}{{ m.role }}:{{ '!' if 'o' in m.content else '?' }}{{ m.content }}\n{% endfor %}"
    rows, _ = run(pair(), formatter=chat(source))
    assert side(rows) == ("user:?ask\n", "assistant:!good\n<eos>")


def test_prompt_gives_way_as_far_as_needed_and_keeps_its_begin() -> None:
    prompt, answer = "p" * 60, "a" * 20
    rows, statistics = run(
        pair(prompt, answer, "b"), length=64, limit=10, formatter=chat(), response_delimiter="<|assistant|>"
    )
    start, learned = side(rows)
    assert learned == f"<|assistant|>{answer}<eos>"
    assert start == f"{'p' * 41}<eos>"
    assert np.count_nonzero(rows[0, 0] != PAD) == 64
    assert side(rows, rejected=True) == (start, "<|assistant|>b<eos>")
    assert statistics.truncated_documents == {"prompt_cut": 1}
    assert statistics.dropped_tokens == {"prompt_cut": 2 * 20}


def test_response_is_cut_only_beside_its_share_and_then_ends_without_end_of_text() -> None:
    rows, statistics = run(
        pair("p" * 60, "a" * 80, "b"), length=64, limit=10, formatter=chat(), response_delimiter="<|assistant|>"
    )
    start, learned = side(rows)
    assert start == f"{'p' * 9}<eos>"
    assert learned == "<|assistant|>" + "a" * 53
    assert side(rows, rejected=True)[1] == "<|assistant|>b<eos>"
    assert statistics.truncated_documents == {"prompt_cut": 1, "response_cut": 1}
    rows, _ = run(pair("p", "a" * 80, "b"), length=64, limit=10, formatter=chat(), response_delimiter="<|assistant|>")
    assert side(rows) == ("<|user|>p<eos>", "<|assistant|>" + "a" * 60)


def test_cleaning_is_done_to_contents_and_counted() -> None:
    rows, statistics = run(pair("schÃ¶n", "jÃ¤", "no"), ftfy=True)
    assert side(rows) == ("[INST] schön", " [/INST] jä<eos>")
    assert statistics.raw_chars_count - statistics.normalized_chars_count == 3


def test_batches_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    examples = [pair("q" * (n % 7 + 1), "a" * (n % 50 + 1), "b" * (n % 11 + 1)) for n in range(60)]
    expected, counted = run(*examples)
    monkeypatch.setattr(dpo_mode, "BATCH_CHARACTERS", 40)
    monkeypatch.setattr(dpo_mode, "BLOCK_TOKENS", 7 * 128)
    blocks = list(formatted_rows(dpo(64, max_prompt_length=16), examples, TOKENIZER, Statistics(), None))
    assert {len(block) for block in blocks[:-1]} == {7}
    np.testing.assert_array_equal(np.concatenate(blocks), expected)
    assert counted.n_examples == 60


def test_reason_survives_a_process_border() -> None:
    error = UnusablePairError("no_prompt")
    made, arguments = error.__reduce__()
    assert made(*arguments).reason == "no_prompt"


CONTENT = st.text(st.sampled_from("ab \n[]/INST<|>é😀"), min_size=1, max_size=40).filter(str.strip)


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.lists(st.tuples(CONTENT, CONTENT, CONTENT), min_size=1, max_size=5),
    length=st.integers(4, 80),
    share=st.floats(0, 1),
    with_chat=st.booleans(),
)
def test_rows_keep_their_promises(
    pairs: list[tuple[str, str, str]], length: int, share: float, with_chat: bool
) -> None:
    limit = 1 + int(share * (length - 2))
    rows, statistics = run(
        *(pair(*texts) for texts in pairs),
        length=length,
        limit=limit,
        formatter=chat() if with_chat else None,
    )
    assert len(rows) == sum(chosen != rejected for _, chosen, rejected in pairs)
    inputs, masks, labels = (rows[:, [n, n + 3]] for n in range(3))
    starts, sizes = masks.argmax(axis=2), masks.sum(axis=2)
    assert not len(rows) or ((sizes >= 1).all() and (starts[:, 0] == starts[:, 1]).all())
    for row in range(len(rows)):
        start = starts[row, 0]
        np.testing.assert_array_equal(inputs[row, 0, : start + 1], inputs[row, 1, : start + 1])
        for one in (0, 1):
            end = start + sizes[row, one]
            assert masks[row, one, start:end].all()
            np.testing.assert_array_equal(labels[row, one, start:end], inputs[row, one, start + 1 : end + 1])
            assert (labels[row, one, end:] == PAD).all() and (inputs[row, one, end + 1 :] == PAD).all()
    assert statistics.document_tokens == statistics.non_pad_tokens + statistics.dropped_tokens.total()
    assert statistics.non_pad_tokens == np.count_nonzero(inputs != PAD)
