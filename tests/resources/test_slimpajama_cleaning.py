import re
import string
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.documents.slimpajama_cleaning import clean, cleaned_length

EVERY_CODE_POINT = [chr(code) for code in range(sys.maxunicode + 1)]
# Few kinds of characters, so that runs of spaces, punctuation and lengthening letters meet often.
TEXT = st.one_of(st.text(), st.text("aB.,-_ \t\n\r\u00a0\u2028\u3000\u200b\u0130\u03a3\x00\x1c\x85\ud800"))


def restated(text: str) -> str:
    """The rule of docs/formats/slimpajama.md "Cleaning", step by step."""
    text = text.lower()
    text = text.translate(str.maketrans("", "", string.punctuation))
    text = text.strip()
    return re.sub(r"\s+", " ", text)


def test_every_code_point_alone_and_between_letters() -> None:
    for block in range(0, len(EVERY_CODE_POINT), 1 << 12):
        for joint in ("", "x", " ", "\n-\t"):
            text = joint.join(EVERY_CODE_POINT[block : block + (1 << 12)])
            assert clean(text) == restated(text)


@given(TEXT)
def test_equals_the_rule_restated(text: str) -> None:
    assert clean(text) == restated(text)
    assert cleaned_length(text) == len(restated(text))


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Don't -- STOP!\n\n\tNow.", "dont stop now"),
        ("\u0130", "i\u0307"),
        ("\u201cquoted\u201d\u2026", "\u201cquoted\u201d\u2026"),
        ("a\u200bb\x00", "a\u200bb\x00"),
        ("a\u00a0\u3000\x85b", "a b"),
        (" ... ", ""),
        ("", ""),
    ],
)
def test_examples(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_lower_casing_has_one_length_per_code_point_in_any_context() -> None:
    """The compiled count relies on this (corpus_assets/normalize/lengths.py)."""
    for block in range(0, len(EVERY_CODE_POINT), 1 << 12):
        characters = EVERY_CODE_POINT[block : block + (1 << 12)]
        alone = sum(len(character.lower()) for character in characters)
        assert len("".join(characters).lower()) == alone
        assert len(" \u03a3".join(characters).lower()) == alone + 2 * (len(characters) - 1)


def test_the_single_spaces_between_words_count() -> None:
    assert cleaned_length("x" * 199 + "." * 50) == 199
    assert cleaned_length("ab " * 66 + "ab") == 200
