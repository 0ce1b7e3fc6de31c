"""Expressions in JSONPath and jq over a document and its attributes, compiled once per process.

A document has the form that the mixer of the Dolma toolkit uses (docs/filter.md "Expressions"): its fields, and
`attributes` with the spans of all attributes by key.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, Literal

import msgspec

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


def jsonpath_of(expression: str, *, dolma: bool = False) -> Any:
    """Returns a compiled expression in JSONPath; raises whatever its library raises for an invalid one."""
    return _environment(dolma).compile(expression.replace("$@", "$", 1) if expression.startswith("$@") else expression)


@cache
def _environment(dolma: bool) -> Any:
    """Returns the JSONPath compiler (RFC 9535), in which a filter `[?(...)]` on an object or value tests that itself.

    The toolkit does the same, and it is the only way to test an attribute by its key. By the RFC the filter would test
    each value of an object, and select nothing from a scalar. dolma: whether comparisons follow the toolkit.
    """
    from jsonpath import JSONPathEnvironment
    from jsonpath.match import JSONPathMatch
    from jsonpath.parse import Parser
    from jsonpath.selectors import Filter, FilterContext

    class OfTheValue(Filter):
        def resolve(self, node: JSONPathMatch) -> Iterable[JSONPathMatch]:
            if isinstance(node.obj, list):
                yield from super().resolve(node)
                return
            expression = self.expression.cache_tree() if self.cacheable_nodes else self.expression
            context = FilterContext(env=self.env, current=node.obj, root=node.root, extra_context=node.filter_context())
            if expression.evaluate(context):
                yield node

    class Reader(Parser):
        def parse_filter_selector(self, stream: Any, *, keys: bool = False) -> Any:
            found = super().parse_filter_selector(stream, keys=keys)
            if not isinstance(found, Filter):
                return found
            return OfTheValue(env=found.env, token=found.token, expression=found.expression)

    class Environment(JSONPathEnvironment):
        parser_class = Reader

    class AsDolma(Environment):
        def compare(self, left: object, operator: str, right: object) -> bool:
            compare = _AS_DOLMA.get(operator)
            return super().compare(left, operator, right) if compare is None else compare(left, right)

    return AsDolma() if dolma else Environment()


def _alike(left: Any, right: Any) -> bool:
    """Returns whether two values of a JSONPath comparison are the same JSON: 1 is not 1.0."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_alike(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):  # A query without results is an empty list of nodes.
        return type(left) is type(right) and len(left) == len(right) and all(map(_alike, left, right))
    return type(left) is type(right) and bool(left == right)


def _less(left: Any, right: Any) -> bool:
    """Returns whether one number is less than another; other values, including booleans, have no order."""
    return type(left) in (int, float) and type(right) in (int, float) and left < right


_AS_DOLMA: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": _alike,
    "!=": lambda left, right: not _alike(left, right),
    "<": _less,
    "<=": lambda left, right: _less(left, right) or _alike(left, right),
    ">": lambda left, right: _less(right, left),
    ">=": lambda left, right: _less(right, left) or _alike(left, right),
}
"""Comparisons of the toolkit's JSONPath, by operator."""


_COMPARES = re.compile(r"\[\?.*[<>=]")


def comparisons(section: RuleSection, expressions: Iterable[str]) -> dict[str, bool]:
    """Returns a parameter for stages with JSONPath expressions whose comparisons follow Dolma 1.2.1.

    Earlier versions compared by value with `compat: dolma` too.
    """
    compare = is_dolma(section) and any(map(_COMPARES.search, expressions))
    return {f"{section.where}.comparisons of JSON": True} if compare else {}


def closed(section: RuleSection, expressions: Iterable[str]) -> dict[str, bool]:
    """Returns a parameter for stages with jq expressions that could read the machine in earlier versions."""
    return {f"{section.where}.jq sees the document alone": True} if reach_outside(expressions) else {}


def is_dolma(section: Values | RuleSection) -> bool:
    """Returns whether the rules of a section follow Dolma 1.2.1."""
    return bool(section["compat"] == "dolma")


def is_true(value: Any) -> bool:
    """Returns whether a value of a jq expression counts as a match: not null, false, 0, or anything empty."""
    return bool(value)
