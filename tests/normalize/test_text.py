import pickle
import re
import sys
import unicodedata
from typing import Any

import ftfy
import pytest
from ftfy.badness import MOJIBAKE_CATEGORIES
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.normalize.fixed import fix
from corpus_assets.normalize.text import Method, nfc, normalizer
from resources.errors import ConfigError
from tests.golden import shared

METHODS: tuple[Method, ...] = ("nfc", "ftfy", "none")


def plain(text: str) -> str:
    return ftfy.fix_text(text, normalization="NFC")


# Text that meets the fixers in turn, and text that does not.
PIECES = st.one_of(
    st.sampled_from(["&amp;", "&lt;p&gt;", "&EACUTE;", "&#x2019;", "&", "<", ">"]),
    st.sampled_from(["\n", "\r\n", "\r", "\u2028", "\x85", "\t", "\x0c", " ", "\u00a0", "\u3000", "\u200b"]),
    st.sampled_from(["sÃ³", "â€œ", "Ã ", "Ã la", "voilÃ le", "à²", "ÂÃ", "×²", "Œ", "œ", "\x9b", "°"]),
    st.sampled_from(["\u2019", "\u201cq\u201d", "\u2026", "\ufb01", "\uff21", "\uff76"]),
    st.sampled_from(["e\u0301", "\u1100\u1161", "\u0915\u093c", "Привет", "中文", "é", "word"]),
    st.sampled_from(["\x1b[31m", "\x00", "\x7f", "\ufeff", "\ud83d", "\udca9", "\ud800"]),
)
# The characters that ftfy takes for signs of mojibake in certain company.
SIGNS = [
    character
    for character in map(chr, range(0x80, 0x10000))
    if re.match(f"[{''.join(MOJIBAKE_CATEGORIES.values())}]", character)
]
TEXT = st.one_of(
    st.text(st.sampled_from([*SIGNS, *" \n.aZ0"])),
    st.text(),
    st.lists(PIECES, max_size=12).map("".join),
    st.lists(st.one_of(PIECES, st.text(st.characters(codec="utf-8"), max_size=3)), max_size=20).map("".join),
)


@given(TEXT)
def test_fix_equals_ftfy(text: str) -> None:
    assert fix(text) == plain(text)


@given(st.text(), st.sampled_from(["\xc2 ", "a", "&", "<"]))
def test_fix_undoes_mojibake_like_ftfy(text: str, start: str) -> None:
    garbled = start + text.encode("utf-8", "surrogatepass").decode("latin-1")
    assert fix(garbled) == plain(garbled)


def test_code_points() -> None:
    """Those below U+3400 and of the compatibility blocks one by one, all of Unicode by the thousand."""
    singly = [*range(0x3400), *range(0xF900, 0x10000), *range(0x1F000, 0x1F700)]
    assert [hex(code) for code in singly if fix(f"a{chr(code)}b") != plain(f"a{chr(code)}b")] == []
    for first in range(0, sys.maxunicode, 1000):
        text = "".join(map(chr, range(first, min(first + 1000, sys.maxunicode + 1))))
        assert fix(text) == plain(text)


def test_signs_of_mojibake_between_plain_characters() -> None:
    sides = ["", "a", "Z", "0", " ", ".", "\t", "a ", " a", "\u2019"]
    for sign in SIGNS:
        text = "\n".join(f"{left}{sign}{right}" for left in sides for right in sides)
        assert fix(text) == plain(text)


@pytest.mark.parametrize(
    "text",
    [
        "&lt;one&gt;\n&lt;two&gt; <b>\n&lt;three&gt;",
        "<b>\n" * 3 + "&amp;",
        "&amp;" + "\n<" * 3,
        "\n\n&amp;\n\n&amp;",
        "\n&eacute; <",
        "tom & jerry\n" * 5,
    ],
)
def test_a_tag_switches_html_decoding_off_from_its_line_on(text: str) -> None:
    assert fix(text) == plain(text)


@pytest.mark.parametrize("tail", ["", "\n&amp; \u2019", "<\n&amp; \u2019"])
@pytest.mark.parametrize("text", ["\u2019" + "x" * 1_000_000, "x" * 999_998 + "&amp;", "x" * 999_998 + "\u2019\n"])
def test_lines_cut_at_a_million_code_points(text: str, tail: str) -> None:
    assert fix(text + tail) == plain(text + tail)


def test_fix_equals_ftfy_on_real_files() -> None:
    for path in sorted(shared("data", "txt").rglob("*.txt"))[:12]:
        text = path.read_text(encoding="utf-8", errors="replace")[:100_000]
        assert fix(text) == plain(text), path.name


@given(st.text())
def test_nfc(text: str) -> None:
    assert nfc(text) == unicodedata.normalize("NFC", text)
    assert nfc(nfc(text)) == nfc(text)


def test_normalizer_by_name() -> None:
    text = "\u201ce\u0301\u201d &amp;"
    results = {method: normalizer(method)(text) for method in METHODS}
    assert results == {"nfc": "\u201c\u00e9\u201d &amp;", "ftfy": '"\u00e9" &', "none": text}


def test_normalizers_travel_to_worker_processes() -> None:
    assert all(pickle.dumps(normalizer(method)) for method in METHODS)


def test_unknown_name() -> None:
    with pytest.raises(ConfigError, match="'nfkc'; valid: nfc, ftfy, none"):
        normalizer("nfkc")  # type: ignore[arg-type]


FIXES: list[dict[str, Any]] = [
    {"unescape_html": False},
    {"unescape_html": True},
    {"fix_latin_ligatures": False},
    {"fix_character_width": False},
    {"uncurl_quotes": False},
    {"uncurl_quotes": False, "unescape_html": False, "fix_latin_ligatures": False, "fix_character_width": False},
]
CHANGED = "a &amp; b \u201cq\u201d\n\ufb01n &lt;\nplain\n<p>\uff21 &amp; schÃ¶n\u2019s &gt;\n e\u0301"


@pytest.mark.parametrize("fixes", FIXES, ids=str)
def test_what_ftfy_changes_is_chosen(fixes: dict[str, Any]) -> None:
    expected = ftfy.fix_text(CHANGED, normalization="NFC", **fixes)
    assert normalizer("ftfy", fixes)(CHANGED) == expected != fix(CHANGED)
    assert "schön" in expected
    assert normalizer("ftfy", pickle.loads(pickle.dumps(fixes)))(CHANGED) == expected


@given(
    text=st.text(st.sampled_from("a&;<lt\n\u201c\ufb01\uff21Ã¶\r\x80e\u0301 "), max_size=60),
    fixes=st.sampled_from(FIXES),
)
def test_chosen_fixes_are_those_of_ftfy(text: str, fixes: dict[str, Any]) -> None:
    assert normalizer("ftfy", fixes)(text) == ftfy.fix_text(text, normalization="NFC", **fixes)
