"""Kernels equal the plain definitions, spans lie in the text, and taggers together give what each gives alone."""

import re
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from corpus_assets.attributes.personal.signs import signs
from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.attributes.taggers.c4 import naughty_words
from corpus_assets.attributes.taggers.personal.pii_of_dolma import EMAIL
from corpus_assets.attributes.tagging import Named, attributes_of
from corpus_assets.attributes.units import counted
from resources.documents.tagger import Spans, Text
from resources.formats.attributes import Span, attribute_line
from resources.formats.documents import Document
from tests.attributes import oracles

CHARACTERS = st.characters(exclude_categories=["Cs"])
ANY = st.text(CHARACTERS, max_size=60)
SPACES = " \n\t\r\x0b\x1c\x85\u00a0\u2028\u3000"


def few(alphabet: str, size: int = 40) -> st.SearchStrategy[str]:
    """Texts of few characters, so that what is looked for occurs."""
    return st.text(st.sampled_from(alphabet), max_size=size)


def tagged(tagger: str, text: str) -> Spans:
    return BUILT_IN[tagger].tag(Text(Document("a", text, "s")))


def whole(found: Spans, kind: str) -> float:
    ((_, _, score),) = found[kind]
    return score


TYPED = {name: tagger for name, tagger in BUILT_IN.items() if tagger.types and not tagger.wheels and not tagger.files}
MIXED = "Menu {\n\nJohn <a.b@example.org> or 212-555-0199 at 10.0.0.1 !!!\n!!!\naaaa fuck javascript lorem ipsum\n"


@given(st.one_of(ANY, few("a@. \n,{", 60), st.just(MIXED)))
def test_a_tagger_gives_no_type_that_it_does_not_declare(text: str) -> None:
    for name, tagger in TYPED.items():
        for function in (tagger.tag, tagger.dolma or tagger.tag):
            try:
                found = function(Text(Document("a", text, "s")))
            except ZeroDivisionError:  # as in the toolkit, for a text without words
                continue
            assert found.keys() <= set(tagger.types), name


def test_the_taggers_that_everybody_runs_declare_all_that_they_give() -> None:
    for name in ("c4_v2", "pii_regex_with_counts_fast_v2", "repetitions_v1", "char_length_v1"):
        assert tagged(name, MIXED).keys() == set(BUILT_IN[name].types)
    assert tagged("gopher_v2", MIXED).keys() == set(BUILT_IN["gopher_v2"].types)


REPEATING = st.one_of(few("ab \n"), few("ab"), few(" \n\t"), few("aab  \u2028\x1c", 80), ANY)


@settings(max_examples=400)
@given(REPEATING, st.integers(1, 6))
@example("ab\nab\nab\nab\n", 1)
@example("    x     ", 1)
@example("aaa  " + "a" * 27, 4)
def test_repetitions(text: str, times: int) -> None:
    text = text * times
    assert list(tagged("repetitions_v1", text).get("repetition", [])) == oracles.repetitions(text)
    expected: list[Span] = []
    for start, end in oracles.paragraphs(text):
        expected += [(start + s, start + e, score) for s, e, score in oracles.repetitions(text[start:end])]
    assert list(tagged("paragraph_repetitions_v1", text).get("repetition", [])) == expected


@given(few("ab", 30), few("abc", 200), st.integers(2, 5))
def test_repetitions_of_long_units(unit: str, between: str, times: int) -> None:
    text = f"{between}{unit * times}c{between * times}d {unit * times}{between}"
    assert list(tagged("repetitions_v1", text).get("repetition", [])) == oracles.repetitions(text)


@given(
    few("abcdefg", 12), st.lists(st.sampled_from(["", " ", "\n", "\t"]), min_size=3, max_size=9), few("abcdefg \n", 90)
)
def test_repetitions_with_gaps(unit: str, gaps: list[str], between: str) -> None:
    text = f"{between}{''.join(unit + gap for gap in gaps)}{unit}{between}"
    assert list(tagged("repetitions_v1", text).get("repetition", [])) == oracles.repetitions(text)


@settings(max_examples=400)
@given(st.one_of(few("a@. \n,", 60), few("ab@.(\n ", 60), ANY.map(lambda text: text.replace("a", "@"))))
@example("..@..@a@b.c ")
@example("a@b@c.d e")
def test_emails(text: str) -> None:
    from corpus_assets.attributes.characters import character_flags, code_points
    from corpus_assets.attributes.kernels.pii import find_emails

    found = find_emails(code_points(text), character_flags(), 0, len(text))
    spans = [(begin, end, text[first:last]) for begin, end, first, last in found.tolist()]
    assert spans == oracles.emails(text)


@settings(max_examples=400)
@given(st.one_of(few("12 .()-\n", 60), few("0125.", 40), few("1\u0663 \u3000-", 60)))
@example(" (212) 555-0100\n212.555.0199\n 212.555.0199")
@example("256.1.1.1 1.2.3.4.5 1234.5.6.789")
def test_phones_and_addresses(text: str) -> None:
    from corpus_assets.attributes.characters import character_flags, code_points
    from corpus_assets.attributes.kernels.pii import find_addresses, find_phones

    codes = code_points(text)
    phones = [found.tolist() for found in find_phones(codes, character_flags(), False)]
    assert list(zip(*phones, strict=True)) == oracles.spans(oracles.PHONE, text)
    phones = [found.tolist() for found in find_phones(codes, character_flags(), True)]
    by_paragraph = [
        (start + s, start + e)
        for start, end in oracles.paragraphs(text)
        for s, e in oracles.spans(oracles.PHONE, text[start:end])
    ]
    assert list(zip(*phones, strict=True)) == by_paragraph
    addresses = [found.tolist() for found in find_addresses(codes)]
    assert list(zip(*addresses, strict=True)) == oracles.spans(oracles.ADDRESS, text)


TERMS = st.sampled_from([*naughty_words(), "javascript", "lorem ipsum", "{", "\u0130", "K", "\u212a"])
LINES = st.lists(st.one_of(TERMS, few(f'ab.!?"{SPACES}', 6), ANY), max_size=8).map("".join)


@settings(max_examples=300)
@given(st.one_of(LINES, LINES.map(str.upper)))
def test_c4(text: str) -> None:
    assert {kind: list(found) for kind, found in tagged("c4_v2", text).items()} == oracles.c4_v2(text)


WORDS = st.lists(st.sampled_from(["a", "b", "the", "be", "\0be", "#", "x\u2026", "\n", "\n\n", "-", "*"]), max_size=60)


@settings(max_examples=300)
@given(st.one_of(WORDS.map(" ".join), few(f"ab{SPACES}", 80), ANY))
def test_gopher(text: str) -> None:
    if text:
        found = tagged("gopher_v2", text)
        assert {kind: whole(found, kind) for kind in found} == oracles.gopher_v2(text)


@given(st.one_of(ANY, few(f"a1_.\u0301{SPACES}")))
def test_pieces(text: str) -> None:
    assert whole(tagged("whitespace_tokenizer_v1", text), "length") == oracles.pieces(text)
    found = [span[2] for span in tagged("whitespace_tokenizer_with_paragraphs_v1", text).get("paragraph", [])]
    parts = [text[start:end] for start, end in oracles.paragraphs(text) if text[start:end].strip()]
    assert found == [oracles.pieces(part) for part in parts]


OLMO = pre_tokenizers.Sequence(
    [
        pre_tokenizers.Split(Regex(r" ?\p{P}"), behavior="isolated"),
        pre_tokenizers.Split(Regex(r" ?\d"), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
    ]
)


@given(few("a1. '\u00bd$s\n\t\u2028\u3000", 60))
def test_olmo_pieces(text: str) -> None:
    assert whole(tagged("olmo_pretokenizer_v1", text), "length") == len(OLMO.pre_tokenize_str(text))


def test_properties_of_every_character() -> None:
    from corpus_assets.attributes.characters import character_flags
    from corpus_assets.attributes.kernels import flags

    table = character_flags()
    tests = {flags.SPACE: str.isspace, flags.ALPHABETIC: str.isalpha, flags.DIGIT: str.isdecimal}
    for code in range(0x110000):
        for bit, test in tests.items():
            assert bool(table[code] & bit) == test(chr(code)), hex(code)


MODEL_FREE = sorted(name for name, tagger in BUILT_IN.items() if not tagger.wheels and not tagger.files)


@given(st.one_of(ANY, LINES, few("a1@.# \n{", 60)))
def test_spans_lie_in_the_text_and_taggers_together_give_what_each_gives(text: str) -> None:
    document = Document("a", text, "s")
    named = [Named(name, f"x__{name}__", BUILT_IN[name].tag) for name in MODEL_FREE]
    together = attributes_of(document, named)
    assert together == {key: spans for one in named for key, spans in attributes_of(document, [one]).items()}
    assert attributes_of(document, named[::-1]) == together
    for spans in together.values():
        assert all(0 <= start <= end <= len(text) for start, end, _ in spans)


@pytest.mark.parametrize("tagger", ["pii_regex_v1", "pii_regex_with_counts_v2"])
def test_a_text_without_words_has_a_value(tagger: str) -> None:
    assert whole(tagged(tagger, " \n"), "doc") == -1.0


def test_the_share_of_what_was_found() -> None:
    text = Text(Document("a", "Write to a@b.org now.", "s"))
    tagger = BUILT_IN["pii_regex_with_counts_fast_v2"]
    found = tagger.tag(text)
    ((start, end, _),) = found[EMAIL]
    assert whole(found, "doc_frac") == (end - start) / len(text.string)
    assert tagger.dolma is not None
    of_dolma = tagger.dolma(text)
    ((start, end, _),) = of_dolma[EMAIL]
    assert whole(of_dolma, "doc_frac") == 1 + (end - start) / len(text.string)


@settings(max_examples=400)
@given(st.one_of(few("12 .()-/x\n\u2011\xa0", 60), few("019.x:aF\n", 40), few("+(3) ", 90)), st.integers(0, 9))
@example("1.2.3.4", 0)
@example("12 34 .... 56 7", 0)
@example("1      234567", 0)
def test_signs_are_where_the_expressions_match(text: str, more: int) -> None:
    found = signs(Text(Document("a", text + "7" * more, "s")))
    text += "7" * more
    near = re.finditer(r"[0-9](?:[ .()\-/\xa0\u2010-\u2013]{0,5}[0-9]){6,}", text)
    assert found.numbers == [match.span() for match in near]
    assert found.dots == bool(re.search(r"\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]", text))
    assert found.colons == bool(re.search(r":[0-9A-Fa-f]{0,4}:", text))


NUMBERS = st.integers(-(10**12), 10**12)


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9), NUMBERS), max_size=20))
@example([(0, 9, 0), (9, 10, -10), (10, 100, 99)])
def test_counts_are_in_a_row_as_spans_are(spans: list[tuple[int, int, int]]) -> None:
    starts, ends, scores = np.array(spans, dtype=np.int64).reshape(-1, 3).T.copy()
    held = counted(starts, ends, scores)
    plain = [(start, end, float(score)) for start, end, score in spans]
    assert held == plain
    assert len(held) == len(plain)
    assert held.total == sum(map(itemgetter(2), plain))
    assert attribute_line("a", "s", {"k": held}) == attribute_line("a", "s", {"k": plain})
