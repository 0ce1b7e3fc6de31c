"""What the filter's JSONPath has beside python-jsonpath: tests of the value itself, and the dialect of Dolma 1.2.1."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jsonpath import JSONPathEnvironment, NodeList
from jsonpath.filter import BaseExpression, InfixExpression, PrefixExpression, RelativeFilterQuery
from jsonpath.match import JSONPathMatch
from jsonpath.parse import Parser
from jsonpath.selectors import Filter, FilterContext, SliceSelector
from typing_extensions import override


class _OfTheValue(Filter):
    """A filter that tests an object or a value itself."""

    @override
    def resolve(self, node: JSONPathMatch) -> Iterable[JSONPathMatch]:
        if isinstance(node.obj, list):
            yield from super().resolve(node)
            return
        expression = self.expression.cache_tree() if self.cacheable_nodes else self.expression
        context = FilterContext(env=self.env, current=node.obj, root=node.root, extra_context=node.filter_context())
        if expression.evaluate(context):
            yield node


class _Current(RelativeFilterQuery):
    """A query from `@` on; `@` alone is there whatever its value, also false, 0 or an empty text."""

    @override
    def evaluate(self, context: FilterContext) -> object:
        found = super().evaluate(context)
        if isinstance(found, NodeList):
            return found
        root, more = context.root, context.extra_context
        return NodeList([JSONPathMatch(filter_context=more, obj=found, parent=None, path="@", parts=(), root=root)])


class _Slice(SliceSelector):
    """A slice of a list; the library takes those of texts too."""

    @override
    def resolve(self, node: JSONPathMatch) -> Iterable[JSONPathMatch]:
        if isinstance(node.obj, list):
            yield from self._of(node, node.obj)

    def _of(self, node: JSONPathMatch, _: list[Any]) -> Iterable[JSONPathMatch]:
        return super().resolve(node)


class _SliceOfDolma(_Slice):
    @override
    def _of(self, node: JSONPathMatch, values: list[Any]) -> Iterable[JSONPathMatch]:
        for place in places_of_dolma(self.slice, len(values)):
            yield node.new_child(values[place], place)


def _holds(expression: BaseExpression, context: FilterContext) -> bool:
    """Returns whether a part of a condition holds: of a list, whether it does for any value in it."""
    within = context.current if isinstance(context.current, list) else [context.current]
    root, more = context.root, context.extra_context
    inner = (FilterContext(env=context.env, current=value, root=root, extra_context=more) for value in within)
    return any(context.env.is_truthy(expression.evaluate(one)) for one in inner)


class _Both(InfixExpression):
    """Conditions with `&&` or `||`."""

    @override
    def evaluate(self, context: FilterContext) -> bool:
        either = self.operator == "||"
        return either if _holds(self.left, context) == either else _holds(self.right, context)


class _Negation(PrefixExpression):
    """A condition with `!`."""

    @override
    def evaluate(self, context: FilterContext) -> object:
        return not _holds(self.right, context)


class _Reader(Parser):
    slices: type[_Slice] = _Slice

    @override
    def parse_filter_selector(self, stream: Any, *, keys: bool = False) -> Any:
        found = super().parse_filter_selector(stream, keys=keys)
        if not isinstance(found, Filter):
            return found
        return _OfTheValue(env=found.env, token=found.token, expression=found.expression)

    @override
    def parse_relative_query(self, stream: Any) -> Any:
        found = super().parse_relative_query(stream)
        return _Current(found.path) if isinstance(found, RelativeFilterQuery) else found

    @override
    def parse_slice(self, stream: Any) -> Any:
        found = super().parse_slice(stream)
        start, stop, step = found.slice.start, found.slice.stop, found.slice.step
        return self.slices(env=found.env, token=found.token, start=start, stop=stop, step=step)


class _ReaderOfDolma(_Reader):
    slices = _SliceOfDolma

    @override
    def parse_prefix_expression(self, stream: Any) -> Any:
        found = super().parse_prefix_expression(stream)
        return _Negation(found.operator, found.right) if isinstance(found, PrefixExpression) else found

    @override
    def parse_infix_expression(self, stream: Any, left: Any) -> Any:
        found = super().parse_infix_expression(stream, left)
        if not isinstance(found, InfixExpression) or not found.logical:
            return found
        return _Both(found.left, found.operator, found.right)


class Environment(JSONPathEnvironment):
    """RFC 9535, where a filter on an object or value tests that itself.

    For the library a boolean is a number in an order, and within a list or object.
    """

    parser_class = _Reader

    @override
    def compare(self, left: object, operator: str, right: object) -> bool:
        match operator:
            case "!=":
                return not self.compare(left, "==", right)
            case "<=" | ">=":
                return self.compare(left, operator[0], right) or self.compare(left, "==", right)
            case "<" | ">" if isinstance(left, bool) or isinstance(right, bool):
                return False
            case "==" if type(left) is type(right) and type(left) in (list, dict):
                return _equal(left, right)
            case "in" | "contains" if type(within := right if operator == "in" else left) is list:
                return any(_equal(value, left if operator == "in" else right) for value in within)
            case _:
                return super().compare(left, operator, right)


class AsDolma(Environment):
    """With the comparisons, slices and conditions of Dolma 1.2.1."""

    parser_class = _ReaderOfDolma

    @override
    def compare(self, left: object, operator: str, right: object) -> bool:
        compare = _AS_DOLMA.get(operator)
        return super().compare(left, operator, right) if compare is None else compare(left, right)


def places_of_dolma(asked: slice, size: int) -> range:
    """Returns the places of a list of `size` values that a slice names in Dolma 1.2.1.

    None if a border lies beyond the list; a border 0 at the end is the end of the list.
    """
    start, stop = asked.start or 0, asked.stop or 0
    if max(abs(start), abs(stop)) > size:
        return range(0)
    start, stop = (border + size if border < 0 else border for border in (start, stop))
    return range(start, stop or size, asked.step or 1)


def _equal(left: Any, right: Any) -> bool:
    """Returns whether two values are the same by the RFC: 1 is 1.0, and true is not 1, wherever it stands."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)


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
