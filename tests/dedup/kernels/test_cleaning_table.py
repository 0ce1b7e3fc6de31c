"""The compiled cleaning equals `resources.documents.slimpajama_cleaning.clean`, its definition, on all of Unicode."""

import sys
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus_assets.dedup.signatures.cleaned_text import clean_batch
from corpus_assets.dedup.signatures.shingles import cleaned_bytes
from resources.formats.texts import joined
from tests.dedup import oracles
from tests.normalize.test_scan import RUNS

POINTS = range(sys.maxunicode + 1)
AWKWARD = st.sampled_from(
    "aZ .-\t\n\x00\x1c\x85\xa0\u0130\u03a3\u03c3\u023a\u0301\u1e9e\u2028\u212a\u4e2d\ud800\U0001f600"
)


def by_definition(texts: Sequence[str]) -> list[bytes]:
    return [oracles.cleaned_bytes(text) for text in texts]


def by_batch(texts: Sequence[str]) -> list[bytes]:
    buffer, bounds = clean_batch(joined(text.encode("utf-8", "surrogatepass") for text in texts))
    assert len(bounds) == len(texts) + 1
    return [buffer[start:stop].tobytes() for start, stop in pairwise(bounds)]


def test_every_code_point_alone() -> None:
    texts = [chr(point) for point in POINTS]
    assert by_batch(texts) == by_definition(texts)


@pytest.mark.parametrize("pattern", ["a{0}B", "{0} {0}", "A {0}b, ", " \u03a3{0}\u03a3 \u00c9{0}"])
def test_every_code_point_between_others(pattern: str) -> None:
    step = 1 << 8
    texts = ["".join(pattern.format(chr(point)) for point in POINTS[first : first + step]) for first in POINTS[::step]]
    assert by_batch(texts) == by_definition(texts)


@example(["", " Caf\u00c9, \u0130stanbul\u2028\ud800 ", "\u039f\u0394\u039f\u03a3.", "..."])
@given(st.lists(st.text(st.one_of(AWKWARD, st.characters(codec=None)), max_size=40), max_size=8))
def test_batches_of_any_text(texts: list[str]) -> None:
    assert by_batch(texts) == by_definition(texts)
    assert [cleaned_bytes(text) for text in texts] == by_definition(texts)


@given(st.lists(RUNS, max_size=4))
def test_batches_of_texts_with_runs_of_ascii(texts: list[str]) -> None:
    assert by_batch(texts) == by_definition(texts)


def test_every_byte_of_ascii_at_every_place_of_a_run() -> None:
    texts = [f"{'a' * place}{chr(byte)}{'b ' * 64}" for byte in range(0x80) for place in range(64)]
    assert by_batch(texts) == by_definition(texts)


def test_floods() -> None:
    texts = [
        "e" + "\u0301" * 100_000,
        "\u03a3" * 50_000,
        " " * 100_000,
        ".!?" * 50_000,
        "\u3000\u2028" * 9999,
        "\x00 " * 9,
    ]
    assert by_batch(texts) == by_definition(texts)
