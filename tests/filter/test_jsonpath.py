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
