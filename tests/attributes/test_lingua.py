"""lingua's answer depends on the text alone."""

import random

import pytest

from corpus_assets.attributes.taggers import lingua

PIECES = [*"漢字中あいアカ", *("안녕", "გამ", "σου", "สวัส", "abc", "ßa", "ґє", "łß", "123", "ሰላም", "漢a", "a漢あ")]
SEPARATORS = ("", " ", " ", ".")


def texts(count: int) -> list[str]:
    """Short texts in several scripts, where ties are frequent."""
    drawn = random.Random(7)
    return [
        "".join(drawn.choice(chosen) + drawn.choice(SEPARATORS) for _ in range(drawn.randint(3, 9)))
        for chosen in (drawn.sample(PIECES, drawn.randint(2, 5)) for _ in range(count))
    ]


@pytest.mark.parametrize(
    ("text", "is_drawn"),
    [
        ("ชาวโลก 文 う", True),  # Three languages with a word each.
        ("文 文 う ชาวโลก", True),  # Second place.
        ("文 文 う ሰላም ልዑል", False),  # Unknown are fewer than half of the words: they do not count.
        ("文 う ሰላም ልዑል", False),  # Most are unknown.
        ("文 う う ชาวโลก", False),  # Japanese has the most words.
        ("文 う", False),
        ("文 ชาวโลก", False),
        ("文う漢字 かな", False),
        ("文 う ßa", True),  # A letter of German alone.
        ("文 う σßa", False),  # As much Greek as German: unknown, and one of three words.
        ("", False),
    ],
)
def test_where_the_library_draws_lots(text: str, is_drawn: bool) -> None:
    assert lingua.is_drawn(text) == is_drawn


def test_one_text_has_one_answer() -> None:
    pytest.importorskip("lingua", reason="the extra lingua is not installed")
    mixed = ["ชาวโลก 文 う", "日うσου안녕하세요σουσου문장お", "", "12", *texts(150)]
    plain = ["the quick brown fox and le petit chat", "kočka a pes v domě, mačka i pas u kući", "hunden og katten"]
    for text in mixed + plain:
        first, *others = [lingua.languages(text) for _ in range(8)]
        assert all(other == first for other in others), text
        assert not lingua.is_drawn(text) or first[0] == ("ja", 1.0)


def test_a_certain_answer_is_that_of_the_library() -> None:
    """The library shuffles its tables for each call, so what it says eight times over is no lot."""
    library = pytest.importorskip("lingua", reason="the extra lingua is not installed")
    detector = library.LanguageDetectorBuilder.from_all_languages().build()
    for text in [text for text in texts(300) if not lingua.is_drawn(text)]:
        for _ in range(8):
            found = detector.compute_language_confidence_values(text)
            values = {one.language.iso_code_639_1.name.lower(): one.value for one in found}
            assert dict(lingua.languages(text)) == pytest.approx(values, abs=1e-11), text
