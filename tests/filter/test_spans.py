"""Replaced pieces of texts: a plain definition over single code points, and what must hold for any pieces."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.filter.rules.expressions import Merged, compiled, is_true
from corpus_assets.filter.spans import replaced, replaced_as_dolma, united
from resources.documents.row_rule import Replacement
from tests.golden import GOLDEN

EDGE_CASES = GOLDEN / "dolma" / "edge_cases.jsonl"
TEXTS = st.text(max_size=12)
PIECES = st.lists(
    st.builds(
        lambda start, size, text: Replacement(start, start + size, text),
        st.integers(0, 14),
        st.integers(0, 6),
        st.sampled_from(["", "x", "[{}]", "{}{}"]),
    ),
    max_size=5,
)


def covered(pieces: list[Replacement], length: int) -> set[int]:
    return {place for start, end, _ in pieces for place in range(start, min(end, length))}


@given(TEXTS, PIECES)
def test_what_no_piece_covers_stays_and_nothing_else(text: str, pieces: list[Replacement]) -> None:
    gone = covered(pieces, len(text))
    cut = [piece._replace(text="") for piece in pieces]
    assert replaced(text, cut) == "".join(char for place, char in enumerate(text) if place not in gone)
    assert replaced(text, [piece._replace(text="{}") for piece in pieces]) == text


@given(TEXTS, PIECES)
def test_united_pieces_do_not_overlap_and_cover_the_same(text: str, pieces: list[Replacement]) -> None:
    found = united(pieces, len(text))
    assert covered(list(found), len(text)) == covered(pieces, len(text))
    for before, after in pairwise(found):
        assert before.start < after.start
        assert before.end <= after.start
    assert all(piece.text in {one.text for one in pieces} for piece in found)


@given(TEXTS, PIECES.filter(lambda pieces: len({piece.text for piece in pieces}) < 2), st.randoms())
def test_the_order_of_like_pieces_does_not_matter(text: str, pieces: list[Replacement], chance: Any) -> None:
    mixed = chance.sample(pieces, len(pieces))
    assert replaced(text, mixed) == replaced(text, pieces)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4)), max_size=4), st.sampled_from(["", "[{}]"]))
def test_apart_from_each_other_both_ways_give_the_same(text: str, given: list[tuple[int, int]], new: str) -> None:
    pieces: list[Replacement] = []
    for start, size in sorted(given):
        if start < len(text) and (not pieces or pieces[-1].end <= start):
            pieces.append(Replacement(start, min(start + size, len(text)), new))
    assert replaced_as_dolma(text, pieces) == replaced(text, pieces)


@pytest.mark.parametrize(
    ("pieces", "sane", "dolma"),
    [
        ([(0, 10, "[{}]"), (5, 12, "[{}]")], "[0123456789ab]cdef", "[0123456789]abcdef"),
        ([(2, 4, "a"), (2, 8, "b")], "01b89abcdef", "01a456789abcdef"),
        ([(5, 5, "-"), (8, 10, "+")], "01234-567+abcdef", "01234-6789abcdef-"),
        ([(3, 6, "-"), (4, 4, "+")], "012-6789abcdef", "012-6789abcdef"),
        ([(3, 6, "-"), (6, 6, "+")], "012-+6789abcdef", "012-789abcdef+"),
        ([(14, 99, "-")], "0123456789abcd-", "0123456789abcd-"),
        ([(20, 30, "<{}>")], "0123456789abcdef", "0123456789abcdef<0123456789abcdef>"),
        ([(16, 16, "-")], "0123456789abcdef-", "0123456789abcdef-"),
    ],
)
def test_by_hand(pieces: list[tuple[int, int, str]], sane: str, dolma: str) -> None:
    chosen = [Replacement(*piece) for piece in pieces]
    assert replaced("0123456789abcdef", chosen) == sane
    assert replaced_as_dolma("0123456789abcdef", chosen) == dolma


def cases(section: str) -> list[dict[str, Any]]:
    if not EDGE_CASES.is_file():
        return []
    found = [json.loads(line) for line in EDGE_CASES.read_text(encoding="utf-8").splitlines()]
    return [case for case in found if case["kind"] == "mix" and case["stream"].get(section)]


def document_of(case: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(case["documents"][0])
    attributes = [json.loads(rows[0])["attributes"] for rows in case["attribute_files"].values()]
    return {**found, "attributes": {key: value for one in attributes for key, value in one.items()}}


@pytest.mark.parametrize("case", cases("span_replacement"), ids=lambda case: case["name"])
def test_golden_spans(case: dict[str, Any]) -> None:
    (wanted,) = case["stream"]["span_replacement"]
    if case["outputs"] is None or wanted["replacement"].startswith("$"):
        pytest.skip("the toolkit loses the shard, or computes the replacement")
    document = document_of(case)
    (spans,) = compiled(wanted["span"], "jsonpath", "span")(Merged(document))
    pieces = [Replacement(start, end, wanted["replacement"]) for start, end, score in spans if score >= 0.5]
    assert replaced_as_dolma(document["text"], pieces) == case["outputs"][0]["text"]


@pytest.mark.parametrize("case", cases("filter"), ids=lambda case: case["name"])
def test_golden_conditions(case: dict[str, Any]) -> None:
    section = case["stream"]["filter"]
    syntax = section.get("syntax", "jsonpath")
    if case["call"] == "raised" and "null" in case["name"]:
        pytest.skip("null.key is null in jq, and an error in the jq of the toolkit")

    def matches(expression: str, of: Any) -> bool:
        found = compiled(expression, syntax, "expression")(Merged(document_of(case)))
        return bool(found) and (syntax == "jsonpath" or of(map(is_true, found)))

    def kept() -> bool:
        wanted = [matches(expression, all) for expression in section["include"]]
        return (any(wanted) or not wanted) and not any(matches(expression, any) for expression in section["exclude"])

    if case["call"] == "raised":
        with pytest.raises(Exception, match=r"jq|cannot be added"):
            kept()
    else:
        assert kept() == bool(case["outputs"])
