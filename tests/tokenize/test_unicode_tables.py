"""Texts with a character that two libraries see otherwise go to the reference, and are found cheaply."""

import threading
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.tokenize.encode import fast_libraries, unicode_tables
from corpus_assets.tokenize.encode.backends import LibraryName, accelerate
from corpus_assets.tokenize.encode.unicode_tables import UnlikeCharacters, probe, utf8_texts
from corpus_assets.tokenize.ragged import Ragged
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer
from resources.user.cache import kept_or_made
from tests.tokenize.test_backends import equal, real, trained

# A combining mark of Unicode 11 and a letter of Unicode 17.
MARK, LETTER = "\u07fd", "\U000323b0"
CONTEXTS = ("{0}", "a{0}", "{0}'s a'{0}s", "e\u0301{0}\u0323 {0}\u0301e", "1{0}2.{0}")
Encode = Callable[[Sequence[str]], Ragged]


def assert_equal_ids(reference: LoadedTokenizer, backend: LibraryName, texts: list[str]) -> None:
    fast = accelerate(reference, backend, [])
    assert fast.report()["backend"] != "tokenizers"
    assert equal(fast.encode_batch(texts), reference.encode_batch(texts))
    assert equal(fast.encode_plain(texts), reference.encode_plain(texts))


@pytest.mark.parametrize("name", ["gpt2", "neox", "olmo-neox-dolma"])
def test_characters_of_later_versions_have_equal_ids(name: str) -> None:
    codes = [0x88F, 0x897, 0x7FD, 0x10D24, 0x105D2, 0x1E6C0, 0x187F8, 0x323B0, 0x33479, 0x1F970, 0x16EA0, 0x11DE0]
    texts = [context.format(chr(code)) for code in codes for context in (*CONTEXTS, "a\u0323\u0307{0}\u0301 {0}'s 'll")]
    assert_equal_ids(real(name, False), "auto", [*texts, "plain text", *texts])


ALIKE = ("CJK UNIFIED IDEOGRAPH", "HANGUL SYLLABLE", "TANGUT IDEOGRAPH")


def is_tried(code: int) -> bool:
    """Of characters that are all alike, ideographs and those of private use, every 16th stands for the others."""
    letter = chr(code)
    alike = unicodedata.category(letter) == "Co" or unicodedata.name(letter, "").startswith(ALIKE)
    return not 0xD800 <= code < 0xE000 and (not alike or code % 16 == 0)


# Planes 2 and 3 hold ideographs only; no later plane but the first rows of 14 is in use.
EVERY_CHARACTER = [
    code
    for codes in (range(0x20000), range(0x20000, 0x40000, 32), range(0xE0000, 0xE0200))
    for code in codes
    if is_tried(code)
]


@pytest.mark.slow
@pytest.mark.sampled(every=3)  # One by each library; the split of NeoX and OLMo is that of GPT-2.
@pytest.mark.parametrize(
    ("name", "backend"), [("gpt2", "auto"), ("neox", "auto"), ("olmo-neox-dolma", "auto"), ("gpt2", "fastokens")]
)
def test_every_character_has_equal_ids(name: str, backend: LibraryName) -> None:
    reference = real(name, False)
    for start in range(0, len(EVERY_CHARACTER), 1 << 13):
        letters = [chr(code) for code in EVERY_CHARACTER[start : start + (1 << 13)]]
        # A character by itself, as one that goes to the reference would take its neighbours along.
        assert_equal_ids(reference, backend, [f" {' '.join(CONTEXTS)}".format(letter) for letter in letters])


def test_a_tokenizer_of_our_own_has_equal_ids_for_all_that_differs() -> None:
    reference = trained("unlike")
    fast = accelerate(reference, "gigatoken", [])
    assert fast._fast is not None
    ranges = fast._fast.unlike.ranges
    codes = [code for first, last in ranges for code in range(first, last + 1)]
    texts = [context.format(chr(code)) for code in codes for context in CONTEXTS]
    assert codes
    assert equal(fast.encode_batch(texts), reference.encode_batch(texts))
    assert fast.report()["unlike_documents"] == len(texts)


def differing(monkeypatch: pytest.MonkeyPatch, letter: str) -> list[int]:
    """Make gigatoken give a wrong id for texts with the letter; returns a list with an entry for every search."""
    load, searches = fast_libraries._LOADERS["gigatoken"], list[int]()
    find = unicode_tables.find_unlike

    def loader(definition: str) -> Encode:
        encode = load(definition)
        return lambda texts: Ragged.of([ids + (letter in text) for ids, text in zip(encode(texts), texts, strict=True)])

    def search(fast: Encode, definition: str) -> unicode_tables.Ranges:
        searches.append(1)
        return find(fast, definition)

    monkeypatch.setitem(fast_libraries._LOADERS, "gigatoken", loader)
    monkeypatch.setattr(unicode_tables, "find_unlike", search)
    # Enough to show what is found; all of Unicode is in the test above.
    monkeypatch.setattr(unicode_tables, "young_characters", lambda: tuple(range(0x800, 0xA00)))
    return searches


def test_a_table_is_found_once_for_versions_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searches = differing(monkeypatch, "\u0850")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    definition = trained("kept table").definition
    assert definition is not None

    def table() -> UnlikeCharacters:
        unicode_tables._unlike.cache_clear()
        return unicode_tables.unlike_characters("gigatoken", fast_libraries._LOADERS["gigatoken"], definition)

    assert table().holds("\u0850")
    assert table().holds("a \u0850")
    assert len(searches) == 1
    (kept,) = (path for path in (tmp_path / "corpus-assets" / "unicode").iterdir() if path.suffix != ".lock")
    kept.write_text("damaged")
    assert table().holds("\u0850")
    assert len(searches) == 2
    monkeypatch.setattr(unicode_tables, "version", lambda name: "99")
    assert table().holds("\u0850")
    assert len(searches) == 3
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept))
    assert table().holds("\u0850")
    assert len(searches) == 4
    unicode_tables._unlike.cache_clear()


@given(st.lists(st.text(max_size=6) | st.sampled_from([MARK, f"a {LETTER}", "\U0001f970", "\ud800"])))
def test_texts_are_found(texts: list[str]) -> None:
    unlike = UnlikeCharacters(((0x7FD, 0x7FD), (0x897, 0x89F), (0x323B0, 0x33479)))
    members = {chr(code) for first, last in unlike.ranges for code in range(first, last + 1)}
    halves = {chr(code) for code in range(0xD800, 0xE000)}  # of pairs: no library takes them
    for searched, expected in ((unlike, members | halves), (UnlikeCharacters(()), halves)):
        places = [place for place, text in enumerate(texts) if expected & set(text)]
        assert searched.among(texts, utf8_texts(texts)) == places


@given(
    st.lists(st.tuples(st.integers(0x80, 0x33479), st.integers(0, 300)), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 0x33479), st.integers(0, 2000)), max_size=4),
)
def test_any_ranges_are_found_anywhere(ranges: list[tuple[int, int]], placed: list[tuple[int, int]]) -> None:
    """Ranges in every script, and letters of every script at the borders of what is looked at together."""
    unlike = UnlikeCharacters(tuple((first, first + more) for first, more in ranges))
    texts = ["é" * before + chr(code) for code, before in placed if not 0xD800 <= code < 0xE000]
    marked = {code for first, last in unlike.ranges for code in range(first, last + 1)}
    places = [place for place, text in enumerate(texts) if marked & set(map(ord, text))]
    assert unlike.among(texts, utf8_texts(texts)) == places


def test_a_text_is_made_in_one_process_while_others_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = list[str]()

    def make() -> str:
        made.append("once")
        waiting.start()
        return "text"

    waiting = threading.Thread(target=lambda: made.append(kept_or_made("g", "n", lambda: "made twice")))
    assert kept_or_made("g", "n", make) == "text"
    waiting.join()
    assert made == ["once", "text"]


def test_probes_show_the_character_beside_others() -> None:
    assert probe(ord(MARK)).count(MARK) > probe(ord(MARK), marks=False).count(MARK) > 3
