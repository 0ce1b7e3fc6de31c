"""Rows as text: every layout by hand, padding, marks by label, and what is left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.rows.view import LIMIT, described, is_described
from corpus_assets.tokenize.rows.vsl import VSLPacker
from resources.formats.hdf5.layout import DPO_FEATURES, LM_FEATURES, VSL_FEATURES
from tests.tokenize.byte_tokenizer import ByteTokenizer
from tests.tokenize.sections import lm_vsl

TOKENIZER = ByteTokenizer()
EOS, PAD = TOKENIZER.special_tokens["<eos>"], TOKENIZER.pad_id


def ids_of(text: str) -> list[int]:
    return [int(number) for number in TOKENIZER.encode_trusted(text, bos=False)]


def plain_row(prompt: str, learned: str, length: int, pad: int = PAD, *, inverted: bool = False) -> Ids:
    """Inputs, mask, labels of one text whose end is in the loss, and padding."""
    before, after = ids_of(prompt), ids_of(learned)
    ids = before + after
    row = np.array([[pad], [int(inverted)], [pad]], np.int32).repeat(length, axis=1)
    row[0, : len(ids) - 1], row[2, : len(ids) - 1] = ids[:-1], ids[1:]
    row[1, max(0, len(before) - 1) : len(ids) - 1] = not inverted
    return row


def lines_of(row: Ids, features: tuple[str, ...], pad: int = PAD, *, inverted: bool = False) -> list[str]:
    return list(described(row, features, TOKENIZER.decode, pad_id=pad, inverted=inverted))


def packed(*sequences: tuple[str, str], length: int, inverted: bool = False) -> Ids:
    packer = VSLPacker(lm_vsl(length, packing="nearest_previous", inverted_mask=inverted), PAD, Statistics())
    ids = [(ids_of(prompt), ids_of(learned)) for prompt, learned in sequences]
    tokens = Ragged.of(prompt + learned for prompt, learned in ids)
    masks = Ragged.of([0] * (len(prompt) - 1) + [1] * len(learned) + [0] for prompt, learned in ids)
    rows = np.concatenate([*packer.add(tokens, masks), *packer.finish()])
    assert len(rows) == 1
    return np.asarray(rows[0])


def test_a_full_row_shows_inputs_and_the_last_label() -> None:
    text = "abc<eos>def"
    assert lines_of(plain_row("", text, 6), LM_FEATURES) == [
        "6 tokens, 0 padding, 6 in the loss",
        "  a«bc<eos>def»",
    ]


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("pad", [PAD, EOS])
def test_a_pair_shows_its_completion_in_the_loss(pad: int, inverted: bool) -> None:
    row = plain_row("Say:<pad>", " yes<eos>", 12, pad, inverted=inverted)
    assert lines_of(row, LM_FEATURES, pad, inverted=inverted) == [
        "8 tokens, 4 padding, 4 in the loss",
        "  Say:<pad>« yes<eos>»",
    ]


def test_a_last_input_without_a_label_ends_the_text() -> None:
    row = plain_row("ab", "cd", 6)
    row[0, 3] = ids_of("d")[0]
    assert lines_of(row, LM_FEATURES) == ["4 tokens, 2 padding, 2 in the loss", "  ab«cd»"]


def test_a_row_of_padding_has_no_text() -> None:
    row = np.array([[PAD] * 4, [0] * 4, [PAD] * 4], np.int32)
    assert lines_of(row, LM_FEATURES) == ["0 tokens, 4 padding, 0 in the loss"]


@pytest.mark.parametrize("inverted", [False, True])
def test_packed_rows_show_every_sequence(inverted: bool) -> None:
    row = packed(("one", "two<eos>"), ("x", "y"), ("a\nb", "c\nd<eos>"), length=20, inverted=inverted)
    assert lines_of(row, VSL_FEATURES, inverted=inverted) == [
        "13 tokens, 7 padding, 9 in the loss, 3 sequences",
        "  sequence 0: one«two<eos>»",
        "  sequence 1: x«y»",
        "  sequence 2: a",
        "    b«c",
        "    d<eos>»",
    ]


def test_one_sequence_in_a_packed_row_needs_no_number() -> None:
    assert lines_of(packed(("one", "two"), length=5), VSL_FEATURES) == [
        "5 tokens, 0 padding, 3 in the loss, 1 sequence",
        "  one«two»",
    ]


@pytest.mark.parametrize("pad", [PAD, EOS])
def test_preference_rows_show_both_sides(pad: int) -> None:
    """As dpo.py writes them: labels of the prompt are padding, and the last id is an input too."""
    row = np.concatenate([plain_row("Q?", answer, 10, pad) for answer in (" yes<eos>", " no<eos>")])
    row[(2, 5), 0] = pad
    row[0, 5], row[3, 4] = EOS, EOS
    tokens = 11 if pad != EOS else 9
    assert lines_of(row, DPO_FEATURES, pad) == [
        f"{tokens} tokens, {20 - tokens} padding, 7 in the loss",
        "  chosen: Q?« yes<eos>»",
        "  rejected: Q?« no<eos>»",
    ]


def test_a_character_cut_by_a_border_stands_whole_where_it_is_complete() -> None:
    row = plain_row("", "€uro", 5)
    assert lines_of(row, LM_FEATURES)[1] == "  «€uro»"


def test_control_characters_are_escaped() -> None:
    assert lines_of(plain_row("a", "\x1b[2J\tb", 6), LM_FEATURES)[1] == "  a«\\x1b[2J\tb»"


def test_long_texts_are_cut_and_say_what_is_missing() -> None:
    first, text = lines_of(plain_row("p" * 10, "c" * (LIMIT + 1241), LIMIT + 1250), LM_FEATURES)
    assert first.startswith(f"{LIMIT + 1250:,} tokens")
    assert text == f"  {'p' * 10}«{'c' * (LIMIT - 10)}» ... 1,251 more characters"


def test_sequences_of_a_row_share_the_limit() -> None:
    row = packed(("a", "b" * LIMIT), ("c", "d"), ("e", "f"), length=LIMIT + 2)
    _, *texts = lines_of(row, VSL_FEATURES)
    assert texts == [f"  sequence 0: a«{'b' * (LIMIT - 1)}» ... 1 more character", "  ... 2 more sequences"]


def test_other_channels_are_no_token_rows() -> None:
    assert is_described(LM_FEATURES)
    assert not is_described(("x", "labels"))
    with pytest.raises(ValueError, match="features are x, labels"):
        lines_of(np.zeros((2, 4), np.int32), ("x", "labels"))


@given(st.text(st.characters(exclude_categories=["C"], exclude_characters="«»"), min_size=2, max_size=60), st.data())
def test_nothing_but_marks_is_added_to_the_text(text: str, data: st.DataObject) -> None:
    ids = TOKENIZER.encode_offsets(text)[0]
    length = ids.size - 1
    mask = data.draw(st.lists(st.integers(0, 1), min_size=length, max_size=length))
    row = np.array([ids[:-1], mask, ids[1:]], np.int32).reshape(3, length)
    first, *shown = lines_of(row, LM_FEATURES)
    assert first.endswith(f"{sum(mask)} in the loss")
    assert "".join(shown).replace("«", "").replace("»", "") == ("  " + text if length else "")
