"""The compiled looks at a text against Python's own."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.normalize.lengths import cleaned_length as counted
from corpus_assets.normalize.settled import unsettled
from corpus_assets.normalize.text import nfc
from resources.documents.slimpajama_cleaning import cleaned_length

POINTS = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
CROWDED = st.text(
    st.sampled_from(
        [
            *" \t\n-.,aZ\x00\x1c\x85\xa0\u0130\u2003\u3000\u00c5\u1680\u200b",
            *"\u0301\u0323\u09be\u09c7\u1100\u1161\u11a8\u0f71\u0f72",
        ]
    )
)

RUNS = st.lists(
    st.one_of(
        st.text(st.sampled_from(" \t\n-.,'aZ09\x00\x1c\x7f"), min_size=60, max_size=140),
        st.sampled_from([" " * 130, "." * 70, "a" * 64, "\u00e9", "e\u0301", "\u2003", "\u0130"]),
    ),
    max_size=5,
).map("".join)
"""Texts with runs of ASCII, at which kernels look 64 bytes at a time."""


@given(st.one_of(st.text(), CROWDED, RUNS))
def test_lengths_are_those_of_the_definition(text: str) -> None:
    assert counted(text.encode()) == cleaned_length(text)


def test_every_code_point_counts_as_the_definition_says() -> None:
    for start in range(0, len(POINTS), 1 << 12):
        text = "-".join(f"{point}a {point}" for point in POINTS[start : start + (1 << 12)])
        assert counted(text.encode()) == cleaned_length(text)


def test_lone_surrogates_count_as_any_other() -> None:
    text = "a\ud800 \udfffb"
    assert counted(text.encode("utf-8", "surrogatepass")) == 5


@given(st.one_of(st.text(), CROWDED, RUNS))
def test_normalizing_the_unsettled_places_is_normalizing_the_text(text: str) -> None:
    for padded in (text, f"{text}{'é ' * 40}{text}"):
        assert nfc(padded) == unicodedata.normalize("NFC", padded)


def test_every_code_point_is_normalized_alone_and_beside_others() -> None:
    around = "{0}", "a{0}", "{0}\u0301\u0323", "\u0327{0}", "\u1100{0}\u11a8", "\u09c7{0}"
    for start in range(0, len(POINTS), 1 << 10):
        points = POINTS[start : start + (1 << 10)]
        text = " xxxxxxxx ".join(form.format(point) for point in points for form in around)
        assert nfc(text) == unicodedata.normalize("NFC", text)


def test_composed_text_has_no_place_to_look_at() -> None:
    assert unsettled("Größe, naïve, Ελληνικά, русский, 日本語, 한국어, עִבְרִית") == []
    assert unsettled("a text with cafe\u0301 in it") == [[15, 17]]
