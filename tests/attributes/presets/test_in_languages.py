"""Words and decisions in other languages are those of datatrove."""

import json
from typing import Any

import pytest

from corpus_assets.attributes.splitters.choice import WordChoice, assigned
from corpus_assets.attributes.splitters.libraries import LIBRARIES, parts, split_indic, split_urdu
from corpus_assets.attributes.splitters.spacy_rules import spacy_rules
from corpus_assets.config.selection.fineweb2.section import shipped
from resources.documents.tagger import Text
from resources.formats.documents import Document
from tests.attributes.presets.in_languages import KEPT, PAGES, made
from tests.attributes.presets.judged import judged_in

MODULES = {
    "spacy": "spacy",
    "jieba": "rjieba",
    "sudachi": "sudachipy",
    "kiwi": "kiwipiepy",
    "pythainlp": "pythainlp",
    "laonlp": "laonlp",
    "icu": "icu4py",
    "indic": "numpy",
}


def needed(label: str) -> None:
    pytest.importorskip(MODULES[assigned()[label].library], reason="the extra splitters is not installed")


def kept(label: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))[label]
    return found


def words(label: str | None, string: str, own: str | None = None) -> list[str]:
    text = Text(Document("a", string, "s"), own)
    return list(WordChoice(label, {}).words(text).words)


@pytest.mark.parametrize("label", PAGES)
def test_words_are_those_of_datatrove(label: str) -> None:
    needed(label)
    text = made(kept(label)["paragraphs"])[0]
    assert words(label, text) == kept(label)["words"]
    assert words(None, text, label) == kept(label)["words"]


@pytest.mark.parametrize("label", PAGES)
def test_decisions_are_those_that_datatrove_gave(label: str) -> None:
    needed(label)
    expected = kept(label)["decisions"]
    assert [judged_in(label, shipped()[label], text) for text in made(kept(label)["paragraphs"])] == expected
    assert len(set(expected)) > 3


@pytest.mark.parametrize(
    ("label", "text", "expected"),
    [
        ("khm_Khmr", "ខ្ញុំចង់ទៅសាលារៀន។", ["ខ្ញុំ", "ចង់ទៅ", "សាលារៀន", "។"]),
        ("mya_Mymr", "မြန်မာဘာသာ စကား", ["မြန်မာဘာသာ", "စကား"]),
        ("bod_Tibt", "བོད་ཡིག", ["བོད", "་", "ཡིག"]),
    ],
)
def test_icu_splits_what_has_no_other_library(label: str, text: str, expected: list[str]) -> None:
    needed(label)
    assert words(label, text) == expected


def test_a_text_without_a_label_is_split_at_spaces_and_marks() -> None:
    pytest.importorskip("spacy", reason="the extra words is not installed")
    assert words(None, "Ein Haus, (groß).") == ["Ein", "Haus", ",", "(", "groß", ")", "."]
    assert words(None, "Ein Haus.", "xxx_Zzzz") == ["Ein", "Haus", "."]


def test_rules_with_spaces_are_kept() -> None:
    spacy = pytest.importorskip("spacy", reason="the extra words is not installed")
    for code, text in (("ru", "это в т.ч. дом, вед. науч. сотр. и т.д."), ("id", "oleh Dr. rer. nat. Budi")):
        expected = [word.text for word in spacy.blank(code)(text) if word.text.strip()]
        assert spacy_rules(code).words(text) == expected
        assert spacy_rules(code).words(f"{text} {text.replace(' ', '  ')}")


def test_every_assigned_splitter_is_known() -> None:
    assert {named.library for named in assigned().values()} <= set(LIBRARIES) == set(MODULES)
    assert len(assigned()) > 2000


def test_indian_languages_are_split_at_their_marks() -> None:
    assert split_indic("राम\tघर गया। 3.5, 1/2 (हाँ)") == ["राम", "घर", "गया", "।", "3.5,1/2", "(", "हाँ", ")"]
    assert split_urdu("یہ گھر ہے۔ اور، نہیں؟") == ["یہ", "گھر", "ہے", "۔", "اور", "،", "نہیں؟"]
    assert split_indic("") == split_urdu(" \t ") == []


@pytest.mark.parametrize("text", ["", "a", "あ" * 50, "aあ" * 40, "x" * 100 + "あ" * 300 + "y" * 7])
def test_parts_are_whole_and_small(text: str) -> None:
    for most in (100, 133, 164):
        found = list(parts(text, most))
        assert "".join(found) == text
        assert all(0 < len(part.encode()) <= most for part in found)


@pytest.mark.parametrize(("text", "found"), [("你好。今天很好！", 1), ("សួស្តី។ ទីពីរ។", 1), ("यह एक है। यह दो है।", 2)])
def test_sentences_of_c4_are_those_of_english_rules(text: str, found: int) -> None:
    pytest.importorskip("spacy", reason="the extra splitters is not installed")
    assert spacy_rules("en").sentences(text) == found
