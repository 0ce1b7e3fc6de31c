"""Kernels equal the plain definitions on all of Unicode."""

from functools import cache

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus_assets.contamination.evidence import Evidence, united
from corpus_assets.contamination.folding import CODE_POINTS, folding
from corpus_assets.contamination.index import Rules, build_index, word_hashes
from corpus_assets.contamination.kernels.kinds import SEVERAL
from corpus_assets.contamination.kernels.words import MOST_WORDS
from corpus_assets.contamination.search import Searcher
from tests.contamination import oracles

CHARACTERS = st.characters(exclude_categories=["Cs"])
FEW = st.sampled_from(
    "aAbß ſ\n\t.-'’\u0301\u0345\u00adİıΣς\u00e9東京か\u3099がｶｰ๐ำ½²ﬁﷺ\u1100\u1161가\U0001f600\u0f77\ufdfa\x1c\u200b"
)
TEXTS = st.one_of(st.text(CHARACTERS, max_size=40), st.text(FEW, max_size=40))
NUMBERS = st.sampled_from(["compared", "equal"])
PUNCTUATION = st.sampled_from(["removed", "separates"])


@settings(max_examples=250)
@given(TEXTS, PUNCTUATION, NUMBERS)
@example("Don't  STOP—now, 東京です x² ﬁne", "removed", "compared")
@example("\ufdfa\ufdfaa", "separates", "compared")
@example("3 12 1,05.5 a1b22 ½ ² ३४ 0 00", "removed", "equal")
def test_words_are_those_of_the_plain_definition(text: str, punctuation: str, numbers: str) -> None:
    hashes, starts, ends = word_hashes(text, punctuation, numbers)
    expected = oracles.words(text, punctuation, numbers)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == [(word.start, word.end) for word in expected]
    letters = [word.letters for word in expected]
    assert [letters.index(word) for word in letters] == [hashes.tolist().index(value) for value in hashes.tolist()]


def test_every_code_point_is_as_the_plain_definition_has_it() -> None:
    every = [chr(point) for point in range(CODE_POINTS) if not 0xD800 <= point < 0xE000]
    for start in range(0, len(every), 1 << 16):
        text = " ".join(every[start : start + (1 << 16)])
        hashes, starts, ends = word_hashes(text, "removed")
        expected = oracles.words(text, "removed")
        assert np.array_equal(starts, [word.start for word in expected])
        assert np.array_equal(ends, [word.end for word in expected])
        numbers = {word.letters: number for number, word in enumerate(expected)}
        by_hash = {value: number for number, value in enumerate(hashes.tolist())}
        assert list(numbers.values()) == list(by_hash.values())


def test_no_code_point_has_more_words_than_there_is_room_for() -> None:
    for point in np.flatnonzero(folding("separates").kinds == SEVERAL).tolist():
        assert len(oracles.words(chr(point), "separates")) <= MOST_WORDS * len(chr(point).encode())


@given(st.text(st.sampled_from("aé東 .\n"), max_size=30))
def test_case_space_punctuation_and_form_do_not_matter(text: str) -> None:
    other = f" {text.upper()} ".replace(" ", " \u2003\n").replace(".", "").replace("É", "E\u0301")
    assert word_hashes(text, "removed")[0].tolist() == word_hashes(other, "removed")[0].tolist()


@cache
def texts_of(alphabet: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(alphabet.split()), max_size=24).map(" ".join)


@settings(max_examples=120)
@given(texts_of("a b c"), st.lists(texts_of("a b c"), max_size=5), st.integers(3, 6), st.integers(3, 6))
@example("a a a a a a b c a", ["a a a a a", "a b c a", "b c a"], 4, 3)
def test_what_a_text_holds(text: str, items: list[str], n: int, shortest: int) -> None:
    rules = Rules(n, min(shortest, n), "removed", 1000)
    index, templates = build_index([word_hashes(item, "removed")[0] for item in items], rules)
    assert templates == 0
    searcher = Searcher(index, rules)
    found = Evidence(index, np.empty(0, dtype=np.uint32)).of(searcher.find(text))
    assert [tuple(entry) for entry in found] == oracles.held(text, items, rules.words, rules.shortest)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), min_size=1, max_size=9))
def test_united(intervals: list[tuple[int, int]]) -> None:
    places = sorted({place for start, size in intervals for place in range(start, start + size)})
    starts = np.array([start for start, _ in intervals], dtype=np.int64)
    ends = starts + np.array([size for _, size in intervals], dtype=np.int64)
    assert united(starts, ends) == oracles.runs(places)


def test_many_hits_have_room() -> None:
    item = " ".join(f"word{n}" for n in range(3000))
    rules = Rules(13, 8, "removed", 100)
    index, _ = build_index([word_hashes(item, "removed")[0]], rules)
    assert len(Searcher(index, rules).find(item)) == 3000 - 12


def test_a_collision_of_keys_finds_nothing_else() -> None:
    first, second = (word_hashes(text, "removed")[0] for text in ("a b c d", "e f g h"))
    rules = Rules(4, 3, "removed", 100)
    index, _ = build_index([first], rules)
    searcher = Searcher(index._replace(keys=build_index([second], rules)[0].keys), rules)
    assert len(searcher.find("e f g h")) == len(searcher.find("a b c d")) == 0
