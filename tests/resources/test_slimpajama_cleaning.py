import re
import string
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.slimpajama_cleaning import clean, cleaned_length, is_short

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
    """`is_short` relies on this when it stops at a prefix."""
    for block in range(0, len(EVERY_CODE_POINT), 1 << 12):
        characters = EVERY_CODE_POINT[block : block + (1 << 12)]
        alone = sum(len(character.lower()) for character in characters)
        assert len("".join(characters).lower()) == alone
        assert len(" \u03a3".join(characters).lower()) == alone + 2 * (len(characters) - 1)


@given(TEXT, st.integers(0, 40))
def test_short_means_cleaned_length_below_the_threshold(text: str, threshold: int) -> None:
    assert is_short(text, threshold) == (len(clean(text)) < threshold)


@given(st.integers(0, 30), st.sampled_from([" ", ".", "\n", "\u3000"]), st.integers(1, 40))
def test_long_texts_with_little_in_them(letters: int, filler: str, threshold: int) -> None:
    text = filler * 2000 + "x" * letters + filler * 2000
    assert is_short(text, threshold) == (letters < threshold)


def test_199_is_short_and_200_is_not() -> None:
    assert is_short("x" * 199 + "." * 50, 200)
    assert not is_short("x" * 200, 200)
    assert not is_short("ab " * 66 + "ab", 200), "the single spaces between words count"
