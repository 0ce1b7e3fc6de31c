"""JSONPath as the filter has it: RFC 9535 by python-jsonpath, or with the comparisons and slices of Dolma 1.2.1.

In both a filter `[?(...)]` on an object or value tests that itself, as in the toolkit. That is the only way to test an
attribute by its key; by the RFC the filter would test each value of an object, and select nothing from a scalar.
"""

import re
from functools import cache
from typing import Any

_OTHERWISE = re.compile(r"\[[-\d\s]*:|\[\?.*(?:&&|\|\||!(?!=)|@\s*[)\]&|])")
"""Slices, and filters with several conditions, a negation, or `@` alone."""

_MAY_TAKE_BOOLEANS = re.compile(r"\[\?.*(?:[<>]|[=!]=\s*[@$\[{]|\b(?:in|contains)\b)")
_OF_ATTRIBUTES = re.compile(r"\$@?\.attributes\b[^$]*")


def jsonpath_of(expression: str, *, dolma: bool = False) -> Any:
    """Returns a compiled expression; raises whatever its library raises for an invalid one.

    dolma: whether it selects what it selects in Dolma 1.2.1.
    """
    return _environment(dolma).compile(expression.replace("$@", "$", 1) if expression.startswith("$@") else expression)


def selects_otherwise(expression: str) -> bool:
    """Returns whether an expression may select other things than in version 0.2."""
    return bool(_OTHERWISE.search(expression))


def may_take_booleans(expression: str) -> bool:
    """Returns whether an expression may compare booleans, which were the numbers 0 and 1; no attribute is one."""
    return bool(_MAY_TAKE_BOOLEANS.search(expression)) and not _OF_ATTRIBUTES.fullmatch(expression)


@cache
def _environment(dolma: bool) -> Any:
    from corpus_assets.filter.rules.path_grammar import AsDolma, Environment  # Its library is loaded by few processes.

    return AsDolma() if dolma else Environment()
