"""The names of a document's fields that expressions in JSONPath and jq read, and whether any document has them.

A negative test, such as `.metadata.lang != "de"`, matches every document if the name is misspelt, so the number of
matches does not show the error.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, Final

from corpus_assets.filter.rules.expressions import Merged, Syntax
from corpus_assets.filter.rules.jsonpath import jsonpath_of
from resources.documents.looked_for import LookedFor


class Way(Enum):
    """A step without a name from a value to others: to all values below it, or to the items of a list."""

    BELOW = "*"
    ITEMS = "[]"


Path = tuple[str | Way, ...]
"""Names from the document down. A step without a name may also stay at the same value."""

_TEXT = r'"(?:[^"\\]|\\.)*"'
_TOKENS = re.compile(rf"(\.{_TEXT}|\[{_TEXT}\])|#[^\n]*|{_TEXT}")
"""Names in quotes; comments, and texts."""
_NAME = rf"(?:[A-Za-z_]\w*|{_TEXT})"
_CHAIN = re.compile(rf'(?<![\w$)\]}}"?.])\.(?:{_NAME}|\[{_TEXT}\])(?:\.{_NAME}|\.?\[{_TEXT}\])*')
_STEP = re.compile(_NAME)
_OTHER_INPUT = re.compile(r"\||\.\.|\b(?:map\w*|any|all|first|last|limit|until|while|repeat|recurse|walk|\w+_by)\s*\(")
"""Constructs of jq that may give a part of an expression another input than the document."""
_MAKES_NAMES = re.compile(
    r"\{|\b(?:capture|match|scan|\w+_entries|fromjson|tojson|reduce|foreach|def|splits|getpath|setpath|paths|input\w*)\b"
)
"""Constructs of jq that may use names that no document has."""


class NamesRead:
    """Counts for each name in expressions how many documents have it.

    expressions: with their languages, by their places in corpus.yaml.
    """

    def __init__(self, expressions: Mapping[str, tuple[str, Syntax]]) -> None:
        named = {where: _named(*one) for where, one in expressions.items()}
        self._paths = [(name, path) for held in named.values() for name, path in held.items()]
        self.counts: Final = LookedFor("documents", {where: [*held] for where, held in named.items()})

    def add(self, document: Merged) -> None:
        """Counts a document."""
        if self._paths:
            had = {name for name, path in self._paths if _holds(document.value, path)}
            self.counts.add(document.names() if self.counts.needs_names else (), had)


def names_read(expression: str, syntax: Syntax) -> list[Path]:
    """Returns the names that an expression reads in a document, in order; for jq only those that are certain."""
    return list(dict.fromkeys(_of_jq(expression) if syntax == "jq" else _of_jsonpath(expression)))


def is_name(expression: str, syntax: Syntax) -> bool:
    """Returns whether an expression is the name of a field and nothing more."""
    return list(map(_shown, names_read(expression, syntax))) == [expression.lstrip("$@.").strip()]


def _named(expression: str, syntax: Syntax) -> dict[str, Path]:
    """Returns names in printed form, without attributes, which are checked earlier."""
    paths = [path for path in names_read(expression, syntax) if path[0] != "attributes"]
    return {expression: paths[0]} if paths and is_name(expression, syntax) else {_shown(path): path for path in paths}


def _shown(path: Path) -> str:
    return ".".join(step.value if isinstance(step, Way) else step for step in path if step is not Way.ITEMS)


def _holds(value: Any, path: Path) -> bool:
    if not path:
        return value is not None
    step, rest = path[0], path[1:]
    if isinstance(step, Way):
        reached = _below(value) if step is Way.BELOW else value if isinstance(value, list) else [value]
        return any(_holds(inner, rest) for inner in reached)
    return isinstance(value, dict) and step in value and _holds(value[step], rest)


def _below(value: Any) -> Iterator[Any]:
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _below(inner)


def _of_jq(expression: str) -> Iterator[Path]:
    bare = _TOKENS.sub(lambda token: token[1] or " ", expression)
    other, makes_names = _OTHER_INPUT.search(bare), bool(_MAKES_NAMES.search(bare))
    for chain in _CHAIN.finditer(bare):
        names = tuple(step.strip('"') for step in _STEP.findall(chain[0]))
        if other is None or chain.start() < other.start():
            yield names
        elif not makes_names:
            yield (Way.BELOW, *names)


def _of_jsonpath(expression: str) -> Iterator[Path]:
    from jsonpath import CompoundJSONPath

    path = jsonpath_of(expression)
    alone: list[Any] = [path]
    if isinstance(path, CompoundJSONPath):
        alone = [path.path, *(one for _, one in path.paths)]
    for one in alone:
        yield from _of_segments(one.segments, ())


def _of_segments(segments: Iterable[Any], before: Path) -> Iterator[Path]:
    """Yields the names of a JSONPath and of its filters. before: the names that lead to its start."""
    from jsonpath.segments import JSONPathRecursiveDescentSegment
    from jsonpath.selectors import Filter, NameSelector

    ends = [before]
    for segment in segments:
        starts = [(*end, Way.BELOW) for end in ends] if isinstance(segment, JSONPathRecursiveDescentSegment) else ends
        ends = []
        for start in starts:
            for selector in segment.selectors:
                other = Way.ITEMS if isinstance(selector, Filter) else Way.BELOW
                if isinstance(selector, Filter):
                    yield from _of_filter(selector.expression, (*start, Way.ITEMS))
                ends.append((*start, selector.name if isinstance(selector, NameSelector) else other))
    for end in ends:
        names = max((place for place, step in enumerate(end, 1) if isinstance(step, str)), default=0)
        if names:
            yield end[:names]


def _of_filter(expression: Any, current: Path) -> Iterator[Path]:
    from jsonpath.filter import FilterQuery, RelativeFilterQuery

    if isinstance(expression, FilterQuery):
        yield from _of_segments(
            expression.path.segments, current if isinstance(expression, RelativeFilterQuery) else ()
        )
        return
    for inner in expression.children():
        yield from _of_filter(inner, current)
