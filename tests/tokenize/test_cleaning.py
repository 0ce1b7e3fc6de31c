"""Cleaning before tokenizing: the wikitext rules against the plain regular expressions, pieces, ftfy."""

import re
from typing import Any

import ftfy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config.datasets.options import Cleaning
from corpus_assets.tokenize.encode.cleaning import clean, detokenize_wikitext, split_text

marks = st.text(st.sampled_from(list("ab ()[]{}\"'\n\t=N°@-,.:;!?s\u00a0")), max_size=60)


def plain_rules(text: str) -> str:
    """docs/formats/cerebras-hdf5.md "Wikitext detokenizer", in quadratic time on unclosed brackets."""
    before = [
        "s '|s'",
        " @-@ |-",
        " @,@ |,",
        " @.@ |.",
        " : |: ",
        " ; |; ",
        " . |. ",
        " ! |! ",
        " ? |? ",
        " , |, ",
    ]
    after = ["= = = =|====", "= = =|===", "= =|==", " ° |°", " \n|\n", "\n |\n", " N | 1 ", " 's|'s"]
    for rule in before:
        spaced, natural = rule.split("|")
        text = text.replace(spaced, natural)
    for opening, closing in ("()", "[]", "{}", '""', "''"):
        inner = rf"\{opening}\s*([^\{closing}]*?)\s*\{closing}"
        text = re.sub(inner, rf"{opening}\g<1>{closing}", text)
    for rule in after:
        spaced, natural = rule.split("|")
        text = text.replace(spaced, natural)
    return text


@given(marks)
def test_wikitext_equals_the_plain_rules(text: str) -> None:
    assert detokenize_wikitext(text) == plain_rules(text)


@pytest.mark.parametrize(
    ("fixes", "left"),
    [
        ({"unescape_html": False}, "&amp;"),
        ({"fix_latin_ligatures": False}, "\ufb01"),
        ({"fix_character_width": False}, "\uff21"),
        ({"uncurl_quotes": False}, "\u201c"),
    ],
)
def test_what_ftfy_changes_is_chosen(fixes: dict[str, Any], left: str) -> None:
    text = "schÃ¶n &amp; \ufb01n \uff21 \u201cq\u201d"
    cleaned = clean(text, Cleaning.model_validate({"ftfy": fixes}))
    assert cleaned == ftfy.fix_text(text, **fixes)
    assert left in cleaned and "schön" in cleaned
    assert clean(text, Cleaning(ftfy=True)) == 'schön & fin A "q"'


def test_wikitext_example() -> None:
    spaced = '= = Title = = \n The dogs \' bone , 1 @,@ 000 kg ( about 5 @.@ 2 % ) is " very big " .'
    assert detokenize_wikitext(spaced) == '== Title ==\nThe dogs\' bone, 1,000 kg (about 5.2 %) is "very big" .'


def test_unclosed_brackets_take_linear_time() -> None:
    text = "( " * 200_000
    assert detokenize_wikitext(text) == text


@given(st.text(st.sampled_from("ab  \n"), max_size=80), st.integers(1, 20))
def test_pieces_concatenate_to_the_text(text: str, length: int) -> None:
    pieces = list(split_text(text, length))
    assert "".join(pieces) == text
    for piece in pieces[:-1]:
        assert len(piece) >= length
        assert " " not in piece[length:]
    assert all(piece.startswith(" ") for piece in pieces[1:])


def test_clean_applies_what_is_asked() -> None:
    raw = "â€œquotedâ€\x9d cafe\u0301 ( x )"
    assert clean(raw, Cleaning()) == raw
    assert clean(raw, Cleaning(ftfy=True)) == ftfy.fix_text(raw, normalization="NFC")
    decomposed = Cleaning(ftfy=True, normalization=None)
    assert clean(raw, decomposed) == ftfy.fix_text(raw, normalization=None)
    assert clean(raw, Cleaning(wikitext=True)) == detokenize_wikitext(raw)
