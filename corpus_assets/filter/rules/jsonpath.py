"""JSONPath as the filter has it: RFC 9535 by python-jsonpath, or with the comparisons and slices of Dolma 1.2.1.

In both a filter `[?(...)]` on an object or value tests that itself, as in the toolkit. That is the only way to test an
attribute by its key; by the RFC the filter would test each value of an object, and select nothing from a scalar.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

_OTHERWISE = re.compile(r"\[[-\d\s]*:|\[\?.*(?:&&|\|\||!(?!=)|@\s*[)\]&|])")
"""Slices, and filters with several conditions, a negation, or `@` alone."""


def jsonpath_of(expression: str, *, dolma: bool = False) -> Any:
    """Returns a compiled expression; raises whatever its library raises for an invalid one.

    dolma: whether it selects what it selects in Dolma 1.2.1.
    """
    return _environment(dolma).compile(expression.replace("$@", "$", 1) if expression.startswith("$@") else expression)


def selects_otherwise(expression: str) -> bool:
    """Returns whether an expression may select other things than in version 0.2."""
    return bool(_OTHERWISE.search(expression))


@cache
def _environment(dolma: bool) -> Any:
    from jsonpath import JSONPathEnvironment, NodeList
    from jsonpath.filter import BaseExpression, InfixExpression, PrefixExpression, RelativeFilterQuery
    from jsonpath.match import JSONPathMatch
    from jsonpath.parse import Parser
    from jsonpath.selectors import Filter, FilterContext, SliceSelector

    class OfTheValue(Filter):
        def resolve(self, node: JSONPathMatch) -> Iterable[JSONPathMatch]:
            if isinstance(node.obj, list):
                yield from super().resolve(node)
                return
            expression = self.expression.cache_tree() if self.cacheable_nodes else self.expression
            context = FilterContext(env=self.env, current=node.obj, root=node.root, extra_context=node.filter_context())
            if expression.evaluate(context):
                yield node

    class Current(RelativeFilterQuery):
        """A query from `@` on; `@` alone is there whatever its value, also false, 0 or an empty text."""

        def evaluate(self, context: FilterContext) -> object:
            found = super().evaluate(context)
            if isinstance(found, NodeList):
                return found
            root, more = context.root, context.extra_context
            return NodeList([JSONPathMatch(filter_context=more, obj=found, parent=None, path="@", parts=(), root=root)])

    class Slice(SliceSelector):
        def resolve(self, node: JSONPathMatch) -> Iterable[JSONPathMatch]:
            if isinstance(node.obj, list):  # The library takes slices of texts too.
                yield from self.of(node, node.obj)

        def of(self, node: JSONPathMatch, _: list[Any]) -> Iterable[JSONPathMatch]:
            return super().resolve(node)

    class SliceOfDolma(Slice):
        def of(self, node: JSONPathMatch, values: list[Any]) -> Iterable[JSONPathMatch]:
            for place in places_of_dolma(self.slice, len(values)):
                yield node.new_child(values[place], place)

    def holds(expression: BaseExpression, context: FilterContext) -> bool:
        """Returns whether a part of a condition holds: of a list, whether it does for any value in it."""
        within = context.current if isinstance(context.current, list) else [context.current]
        root, more = context.root, context.extra_context
        inner = (FilterContext(env=context.env, current=value, root=root, extra_context=more) for value in within)
        return any(context.env.is_truthy(expression.evaluate(one)) for one in inner)

    class Both(InfixExpression):
        """Conditions with `&&` or `||`."""

        def evaluate(self, context: FilterContext) -> bool:
            either = self.operator == "||"
            return either if holds(self.left, context) == either else holds(self.right, context)

    class Negation(PrefixExpression):
        def evaluate(self, context: FilterContext) -> object:
            return not holds(self.right, context)

    class Reader(Parser):
        slices: type[Slice] = Slice

        def parse_filter_selector(self, stream: Any, *, keys: bool = False) -> Any:
            found = super().parse_filter_selector(stream, keys=keys)
            if not isinstance(found, Filter):
                return found
            return OfTheValue(env=found.env, token=found.token, expression=found.expression)

        def parse_relative_query(self, stream: Any) -> Any:
            found = super().parse_relative_query(stream)
            return Current(found.path) if isinstance(found, RelativeFilterQuery) else found

        def parse_slice(self, stream: Any) -> Any:
            found = super().parse_slice(stream)
            start, stop, step = found.slice.start, found.slice.stop, found.slice.step
            return self.slices(env=found.env, token=found.token, start=start, stop=stop, step=step)

    class ReaderOfDolma(Reader):
        slices = SliceOfDolma

        def parse_prefix_expression(self, stream: Any) -> Any:
            found = super().parse_prefix_expression(stream)
            return Negation(found.operator, found.right) if isinstance(found, PrefixExpression) else found

        def parse_infix_expression(self, stream: Any, left: Any) -> Any:
            found = super().parse_infix_expression(stream, left)
            if not isinstance(found, InfixExpression) or not found.logical:
                return found
            return Both(found.left, found.operator, found.right)

    class Environment(JSONPathEnvironment):
        parser_class = Reader

    class AsDolma(Environment):
        parser_class = ReaderOfDolma

        def compare(self, left: object, operator: str, right: object) -> bool:
            compare = _AS_DOLMA.get(operator)
            return super().compare(left, operator, right) if compare is None else compare(left, right)

    return AsDolma() if dolma else Environment()


def places_of_dolma(asked: slice, size: int) -> range:
    """Returns the places of a list of `size` values that a slice names in Dolma 1.2.1.

    None if a border lies beyond the list; a border 0 at the end is the end of the list.
    """
    start, stop = asked.start or 0, asked.stop or 0
    if max(abs(start), abs(stop)) > size:
        return range(0)
    start, stop = (border + size if border < 0 else border for border in (start, stop))
    return range(start, stop or size, asked.step or 1)


def _alike(left: Any, right: Any) -> bool:
    """Returns whether two values of a comparison are the same JSON: 1 is not 1.0."""
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
"""Comparisons of the toolkit, by operator."""
