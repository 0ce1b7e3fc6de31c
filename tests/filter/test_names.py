"""The names that expressions read are told if no document has them, whatever the expressions match."""

from pathlib import Path

import pytest

from corpus_assets.filter.rules.expressions import Merged, Syntax
from corpus_assets.filter.rules.names import NamesRead
from corpus_assets.orchestration.building.notes import build_notes
from tests.filter.corpora import filtered, small

DOCUMENT = {
    "text": "a text",
    "metadata": {"lang": "en", "tags": [{"name": "x"}], "a b": {"c": 1}, "gone": None},
    "attributes": {"q__t__k": [[0, 1, 1.0]]},
}


def absent(expression: str, syntax: Syntax) -> list[str]:
    names = NamesRead({"here": (expression, syntax)})
    names.add(Merged(DOCUMENT))
    found = names.counts.numbers()["found"].get("here", {})
    return [name for name, (count, _) in found.items() if not count]


@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        ('.metadata.Lang != "de"', ["metadata.Lang"]),
        ('.lang != "de"', ["lang"]),
        (".metadata.lagn | not", ["metadata.lagn"]),
        ('.metadata | .lagn != "de"', ["*.lagn"]),
        ('.metadata["a b"].d == null and ."te xt" != ""', ["metadata.a b.d", "te xt"]),
        ("select((.metadata.tasg // []) | length > 1) | .text", ["metadata.tasg"]),
        (".metadata.tags[] | .nmae", ["*.nmae"]),
        (".metadata.nowhere", [".metadata.nowhere"]),
        (".metadata.gone", [".metadata.gone"]),
        ('.metadata.lang != "de" # not .metadata.here', []),
        ('.metadata["a b"].c and .["text"] != ".metadata.here"', []),
        ('.text | capture("(?<year>[0-9]+)").year != ""', []),
        ("{kind: .text} | .kind", []),
        (". as $d | $d.metadata.lang", []),
        ("[.metadata.tags[] | select(.name == 1)] | length > 0", []),
        (".attributes.q__t__k[0][2] > 0.5", []),
    ],
)
def test_names_in_jq(expression: str, missing: list[str]) -> None:
    assert absent(expression, "jq") == missing


@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        ("$.metadata[?(@.Lang != 'de')]", ["metadata.Lang"]),
        ("$[?(@.lang != 'de')]", ["lang"]),
        ("$[?(!@.metadata.lagn)]", ["metadata.lagn"]),
        ("$.metadata.tags[?(@.nmae != 'y')]", ["metadata.tags.nmae"]),
        ("$..nowhere", ["*.nowhere"]),
        ("$.metadata.nowhere", ["$.metadata.nowhere"]),
        ("$.metadata['lang', 'nowhere']", ["metadata.nowhere"]),
        ("$.nowhere | $.text", ["nowhere"]),
        ("$.metadata[?(@.lang != 'de' && @['a b'].c == 1)]", []),
        ("$.metadata.tags[?(@.name != 'y')]", []),
        ("$.metadata.tags[*].name", []),
        ("$..name", []),
        ("$@.attributes[?(@.q__t__k[0][2] > 0.5)]", []),
    ],
)
def test_names_in_jsonpath(expression: str, missing: list[str]) -> None:
    assert absent(expression, "jsonpath") == missing


def test_an_expression_that_matches_all_for_a_misspelt_name_is_told(tmp_path: Path) -> None:
    corpus = filtered(small(tmp_path, {"syntax": "jq", "include": ['.metadata.lagn != "de"', ".metadata.never.asked"]}))
    notes = [note for note in build_notes(corpus.planner()) if note.startswith("filter.include")]
    assert [note.partition(":")[0] for note in notes] == [
        "filter.include.0 'metadata.lagn'",
        "filter.include.1 '.metadata.never.asked'",
    ]
    assert all("none of" in note and "they have: id, text" in note for note in notes)
