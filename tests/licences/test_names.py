"""One spelling of licences, and which expressions are allowed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.licences.names import LONGEST, folded
from corpus_assets.licences.terms import Allowed


@pytest.mark.parametrize(
    ("given_name", "expected"),
    [
        ("mit", "MIT"),
        ("  MIT   License ", "MIT"),
        ("License :: OSI Approved :: MIT License", "MIT"),
        ("Apache Software License; MIT License", "Apache-2.0 AND MIT"),
        ("MIT; MIT License", "MIT"),
        ("mit or apache-2.0; isc", "(MIT OR Apache-2.0) AND ISC"),
        ("gpl-3.0-only with classpath-exception-2.0", "GPL-3.0-only WITH Classpath-exception-2.0"),
        ("PSF-2.0 (language topics)", "PSF-2.0 (language topics)"),
        ("Terms of my own", "Terms of my own"),
        ("", ""),
    ],
)
def test_spellings_fold_and_unknown_names_stay(given_name: str, expected: str) -> None:
    assert folded(given_name) == expected


def test_the_text_of_a_licence_is_cut() -> None:
    assert len(folded("Permission is hereby granted " * 100)) == LONGEST


@pytest.mark.parametrize(
    ("licence", "allow", "expected"),
    [
        ("MIT", ["mit"], True),
        ("MIT", ["MIT License"], True),
        ("MIT", ["Apache-2.0"], False),
        ("MIT OR GPL-3.0-only", ["MIT"], True),
        ("MIT AND GPL-3.0-only", ["MIT"], False),
        ("MIT AND GPL-3.0-only", ["MIT", "GPL-*"], True),
        ("MIT OR GPL-3.0-only AND ISC", ["GPL-3.0-only"], False),
        ("(MIT OR GPL-3.0-only) AND ISC", ["ISC", "GPL-3.0-only"], True),
        ("CC-BY-SA-4.0", ["CC-BY-*"], True),
        ("GPL-3.0-only WITH Classpath-exception-2.0", ["GPL-3.0-only"], False),
        ("PSF-2.0 (language topics)", ["PSF-2.0"], False),
        ("PSF-2.0 (language topics)", ["PSF-2.0 (language topics)"], True),
        ("MIT OR", ["MIT"], False),
        ("((((", ["MIT"], False),
        (") OR MIT", ["MIT"], False),
        ("none stated", ["*"], True),
        ("MIT AND GPL-3.0-only", ["MIT*"], False),
        ("BSD-3-Clause AND (GPL-2.0-only OR SSPL-1.0)", ["BSD*"], False),
        ("BSD-3-Clause AND (GPL-2.0-only OR SSPL-1.0)", ["BSD*", "gpl-*"], True),
        ("CC-BY-4.0 AND Proprietary", ["CC-BY*"], False),
        ("MIT AND GPL-3.0-only", ["mit and gpl-3.0-only"], True),
        (folded("Apache-2.0 AND " + "x" * 300), ["Apache-2.0*", "*"], False),
    ],
)
def test_or_needs_one_side_and_needs_both(licence: str, allow: list[str], expected: bool) -> None:
    assert (licence in Allowed(allow)) is expected


NAMES = st.sampled_from(["MIT", "ISC", "Zlib", "GPL-3.0-only"])
EXPRESSIONS = st.recursive(
    NAMES,
    lambda inner: st.tuples(inner, st.sampled_from([" AND ", " OR "]), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
)


@given(EXPRESSIONS, st.sets(NAMES))
def test_an_expression_is_what_python_says_of_it(expression: str, allow: set[str]) -> None:
    words = expression
    for name in ("MIT", "ISC", "Zlib", "GPL-3.0-only"):
        words = words.replace(name, str(name in allow))
    assert (expression in Allowed(sorted(allow))) == eval(words.replace("AND", "and").replace("OR", "or"))


@given(st.text(max_size=300))
def test_folding_twice_changes_nothing_and_nothing_raises(name: str) -> None:
    once = folded(name)
    assert len(once) <= LONGEST
    assert (once in Allowed(["MIT"])) in (True, False)
