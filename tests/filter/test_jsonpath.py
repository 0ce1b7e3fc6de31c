"""JSONPath of the filter: slices, and conditions of lists, by RFC 9535 and as in release 1.2.1 of the Dolma toolkit."""

from pathlib import Path

import pytest

from corpus_assets.filter.rules.expressions import Merged, compiled
from tests.filter.corpora import small


@pytest.mark.parametrize(
    ("expression", "otherwise"),
    [
        ("$.metadata.years[:-1]", True),
        ("$.metadata.years[?(@ > 1.0 && @ < 5.0)]", True),
        ("$.metadata[?(!@.year)]", True),
        ("$.metadata.years[?(@)]", True),
        ("$.metadata[?(@.year != 2020)]", False),
        ("$.metadata.years[0]", False),
    ],
)
def test_documents_are_filtered_anew_where_slices_and_conditions_were_others(
    tmp_path: Path, expression: str, otherwise: bool
) -> None:
    corpus = small(tmp_path, {"include": [expression]})
    parameters = corpus.planner().parameters(corpus.graph["filtered_documents"], "books--one")
    assert ("filter.slices and conditions of lists" in parameters) == otherwise


LISTS = [[], [0], [5], [[]], [[5]], [[0, 9, 3]], [1, 2], [{"n": 1}], [[{"n": 1}]], "text", 0, False, "", {"n": 0}]


@pytest.mark.parametrize(
    ("expression", "as_dolma", "ours"),
    [
        ("$.v[0:1]", [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8]),
        ("$.v[:-1]", [1, 2, 3, 4, 5, 6, 7, 8], [6]),
        ("$.v[0:2]", [6], [1, 2, 3, 4, 5, 6, 7, 8]),
        ("$.v[-2:]", [6], [1, 2, 3, 4, 5, 6, 7, 8]),
        ("$.v[?(@)]", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]),
        ("$.v[?(@[0] && @[0] < 7)]", [], [4, 5]),
        ("$.v[?(@[0] != 2 && @ == 9)]", [5], []),
        ("$.v[?(!@.n)]", [1, 2, 3, 4, 5, 6, 9, 10, 11, 12], [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12]),
    ],
)
def test_slices_and_conditions_of_lists(expression: str, as_dolma: list[int], ours: list[int]) -> None:
    """What release 1.2.1 selects, and what RFC 9535 says of lists."""
    for dolma, expected in ((True, as_dolma), (False, ours)):
        select = compiled(expression, "jsonpath", "include", dolma=dolma)
        assert [place for place, value in enumerate(LISTS) if select(Merged({"v": value}))] == expected


VALUES = [False, True, 0, 1, 1.0, "1", None, [True], [1], {"n": False}, {"n": 0}]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("@ < 1", [0]),
        ("@ > -1", [0, 1, 1.0]),
        ("@ < true", []),
        ("@ <= 1", [0, 1, 1.0]),
        ("@ <= true", [True]),
        ("@ >= false", [False]),
        ("@ == 1", [1, 1.0]),
        ("@ != 1", [False, True, 0, "1", None, [True], [1], {"n": False}, {"n": 0}]),
        ("@ == $.lists[0]", [[True]]),
        ("@ == $.lists[1]", [[1]]),
        ("@ >= $.objects[0]", [{"n": False}]),
        ("@ in $.lists[0]", [True]),
        ("$.lists[1] contains @", [1, 1.0]),
    ],
)
def test_a_boolean_is_no_number(condition: str, expected: list[object]) -> None:
    """RFC 9535, 2.3.5.2.2: only numbers and texts have an order, and `<=` holds of what is equal too."""
    select = compiled(f"$.v[?({condition})]", "jsonpath", "include")
    found = select(Merged({"v": VALUES, "lists": [[True], [1]], "objects": [{"n": False}]}))
    assert list(map(repr, found)) == list(map(repr, expected))


@pytest.mark.parametrize(
    ("expression", "otherwise"),
    [
        ("$.metadata[?(@.score < 1)]", True),
        ("$.metadata[?(@.flags == $.metadata.others)]", True),
        ("$.metadata[?(1 in @.flags)]", True),
        ("$.metadata[?(@.score == 1)]", False),
        ("$.attributes.quality__gopher_v2__word_count[?(@[2] < 1)]", False),
    ],
)
def test_documents_are_filtered_anew_where_booleans_may_be_compared(
    tmp_path: Path, expression: str, otherwise: bool
) -> None:
    for compat in ({}, {"compat": "dolma"}):
        corpus = small(tmp_path, {"include": [expression], **compat})
        parameters = corpus.planner().parameters(corpus.graph["filtered_documents"], "books--one")
        assert ("filter.comparisons of booleans" in parameters) == (otherwise and not compat)
