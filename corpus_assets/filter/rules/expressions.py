"""Expressions in JSONPath and jq over a document and its attributes, compiled once per process.

A document has the form that the mixer of the Dolma toolkit uses (docs/filter.md "Expressions"): its fields, and
`attributes` with the spans of all attributes by key.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any, Literal

import msgspec

from corpus_assets.filter.rules.jsonpath import jsonpath_of, may_take_booleans, selects_otherwise
from corpus_assets.filter.rules.section import RuleSection
from resources.closed_jq import closed_program, reach_outside
from resources.documents.row_rule import Row
from resources.errors import ConfigError
from resources.stage.hooks import Values

Syntax = Literal["jsonpath", "jq"]
Select = Callable[["Merged"], list[Any]]
"""Returns all values that an expression selects; raises whatever its library raises."""


class Merged:
    """One document with its attributes, as a plain value and as JSON, each made when it is first asked for."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value
        self._json: str | None = None

    def names(self) -> list[str]:
        """Returns the names that an expression can use: fields, and keys of metadata and attributes."""
        names = []
        for field, value in self.value.items():
            inner = value if field in ("metadata", "attributes") and isinstance(value, dict) else None
            names += [field] if inner is None else [f"{field}.{key}" for key in inner]
        return names

    @property
    def json(self) -> str:
        """The document as JSON."""
        if self._json is None:
            self._json = msgspec.json.encode(self.value).decode()
        return self._json


@lru_cache(maxsize=1)
def merged(row: Row) -> Merged:
    """Returns the document of a row with its attributes; all rules of a row share it."""
    value = msgspec.json.decode(row.line)
    held = value.get("attributes")
    return Merged({**value, "attributes": {**(held if isinstance(held, dict) else {}), **row.attributes}})


def compiled(expression: str, syntax: Syntax, where: str, *, dolma: bool = False) -> Select:
    """Returns the evaluator of an expression; `ConfigError`, with `where`, if it is not valid.

    dolma: whether JSONPath compares as in Dolma 1.2.1.
    """
    try:
        return _jq(expression) if syntax == "jq" else _jsonpath(expression, dolma)
    except Exception as error:
        words = " ".join(str(error).split())
        raise ConfigError(f"{where}: {expression!r} is not a valid expression in {syntax}: {words}") from None


@cache
def _jq(expression: str) -> Select:
    program = closed_program(expression)
    return lambda document: program(document.json)


@cache
def _jsonpath(expression: str, dolma: bool) -> Select:
    path = jsonpath_of(expression, dolma=dolma)
    return lambda document: list(path.findall(document.value))


_COMPARES = re.compile(r"\[\?.*[<>=]")


def comparisons(section: RuleSection, expressions: Iterable[str]) -> dict[str, bool]:
    """Returns parameters for stages with JSONPath expressions that earlier versions took otherwise.

    They compared by value with `compat: dolma` too, and without it took booleans for numbers. They had their own slices
    and conditions of lists.
    """
    paths = list(expressions)
    found = {"comparisons of JSON": is_dolma(section) and any(map(_COMPARES.search, paths))}
    found["slices and conditions of lists"] = any(map(selects_otherwise, paths))
    found["comparisons of booleans"] = not is_dolma(section) and any(map(may_take_booleans, paths))
    return {f"{section.where}.{what}": True for what, is_so in found.items() if is_so}


def closed(section: RuleSection, expressions: Iterable[str]) -> dict[str, bool]:
    """Returns a parameter for stages with jq expressions that could read the machine in earlier versions."""
    return {f"{section.where}.jq sees the document alone": True} if reach_outside(expressions) else {}


def is_dolma(section: Values | RuleSection) -> bool:
    """Returns whether the rules of a section follow Dolma 1.2.1."""
    return bool(section["compat"] == "dolma")


def is_true(value: Any) -> bool:
    """Returns whether a value of a jq expression counts as a match: not null, false, 0, or anything empty."""
    return bool(value)
