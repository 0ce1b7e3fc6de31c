"""The compiled looks at a text against Python's own."""

import unicodedata
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.normalize.batches import normalized
from corpus_assets.normalize.lengths import cleaned_lengths
from corpus_assets.normalize.settled import unsettled, unsettled_texts
from corpus_assets.normalize.text import nfc
from corpus_assets.normalize.text_table import row_of
from resources.documents.slimpajama_cleaning import cleaned_length
from resources.formats.documents import Document
from resources.formats.texts import joined

POINTS = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
CROWDED = st.text(
    st.sampled_from(
        [
            *" \t\n-.,aZ\x00\x1c\x85\xa0\u0130\u2003\u3000\u00c5\u1680\u200b",
            *"\u0301\u0323\u09be\u09c7\u1100\u1161\u11a8\u0f71\u0f72",
        ]
    )
)


BASES = [point for point in POINTS if unicodedata.decomposition(point) or point < "\u0250"]
MARKS = [point for point in POINTS if unicodedata.combining(point)]
COMBINED = st.text(st.one_of(st.sampled_from(BASES), st.sampled_from(MARKS), st.sampled_from("a \u09be\u09c7")))


def counted(encoded: bytes) -> int:
    return int(cleaned_lengths(joined([encoded]))[0])


@given(st.one_of(st.text(), CROWDED))
def test_lengths_are_those_of_the_definition(text: str) -> None:
    assert counted(text.encode()) == cleaned_length(text)


def test_every_code_point_counts_as_the_definition_says() -> None:
    for start in range(0, len(POINTS), 1 << 12):
        text = "-".join(f"{point}a {point}" for point in POINTS[start : start + (1 << 12)])
        assert counted(text.encode()) == cleaned_length(text)


def test_lone_surrogates_count_as_any_other() -> None:
    text = "a\ud800 \udfffb"
    assert counted(text.encode("utf-8", "surrogatepass")) == 5


@given(st.one_of(st.text(), CROWDED))
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


@given(st.lists(st.one_of(st.text(), CROWDED, COMBINED, st.just("plain " * 30)), max_size=8))
def test_every_text_that_the_form_changes_is_found(texts: list[str]) -> None:
    changed = {number for number, text in enumerate(texts) if unicodedata.normalize("NFC", text) != text}
    assert changed <= set(unsettled_texts(joined(text.encode() for text in texts)))


def test_every_pair_of_a_starter_and_a_mark_that_the_form_changes_is_found() -> None:
    texts = [f"x{base}{mark}" for mark in MARKS for base in BASES]
    found = set(unsettled_texts(joined(text.encode() for text in texts)))
    assert all(number in found for number, text in enumerate(texts) if not unicodedata.is_normalized("NFC", text))


def test_texts_in_the_form_are_not_looked_at_again() -> None:
    settled = ["Tiếng Việt", "বাংলা ভাষা", "தமிழ் மொழி", "עִבְרִית", "العَرَبِيَّة", "हिन्दी", "x" * 200, ""]
    assert unsettled_texts(joined(unicodedata.normalize("NFC", text).encode() for text in settled)) == []
    assert unsettled_texts(joined(text.encode() for text in ("fine", "cafe\u0301", "a" * 63 + "e\u0301"))) == [1, 2]


@given(st.lists(st.one_of(st.text(), COMBINED)), st.sampled_from([nfc, str.upper]))
def test_a_batch_gives_what_its_documents_give_alone(texts: list[str], fix: Callable[[str], str]) -> None:
    documents = [Document(str(number), text, "s") for number, text in enumerate(texts)]
    alone = [Document(str(number), fix(text), "s") for number, text in enumerate(texts)]
    assert list(normalized(documents, fix)) == [(document, row_of(document)) for document in alone]
