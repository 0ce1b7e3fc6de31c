"""Literal values of a Python script, computed from its syntax; nothing of it is ever run."""

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from corpus_assets.importer.datatrove.functions import Function
from corpus_assets.importer.given import Unknown

MOST_CHARACTERS = 4096
"""Of a text that is put together."""
_MOST_ITEMS = 10_000


class Block(NamedTuple):
    """A call of a class with its parameters, by name; those without a name have their place as a number."""

    name: str
    line: int
    values: Mapping[str | int, Any]
    weight: int = 1
    """How many values it holds, those inside of others included."""


class _Items(list[Any]):
    """A list that knows how many values it holds, those inside of others included."""

    weight = 1


class _Mapped(dict[str, Any]):
    """A mapping that knows how many values it holds."""

    weight = 1


Known = Mapping[str, Any]
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.FloorDiv: lambda left, right: left // right,
}


def value_of(node: ast.expr, known: Known, aliases: Mapping[str, str]) -> Any:
    """Returns the value of an expression: a literal, a list, a mapping, a `Block`, or an `Unknown`.

    known: values of names. aliases: names of imported classes, by the name under which they are imported.
    """
    found = _value(node, known, aliases)
    return Unknown(_said(node)) if found is None and not _is_none(node) else found


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _said(node: ast.expr) -> str:
    return " ".join(ast.unparse(node).split())


def _value(node: ast.expr, known: Known, aliases: Mapping[str, str]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value if value is None or isinstance(value, str | int | float | bool) else Unknown(_said(node))
        case ast.Name(id=name):
            return known.get(name, Unknown(name))
        case ast.Attribute():
            return _attribute(node, known, aliases)
        case ast.JoinedStr(values=parts):
            return _joined([_part(part, known, aliases) for part in parts], node)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return _items(items, known, aliases)
        case ast.Dict(keys=keys, values=values):
            pairs = [pair for pair in zip(keys, values, strict=True) if pair[0] is not None]
            found = _Mapped({_key(key, known, aliases): value_of(value, known, aliases) for key, value in pairs})
            found.weight = _weight(found.values())
            return found if found.weight <= _MOST_ITEMS else Unknown(_said(node))
        case ast.Subscript(value=inside, slice=key):
            return _item(value_of(inside, known, aliases), value_of(key, known, aliases), node)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            number = value_of(inner, known, aliases)
            return -number if _is_number(number) else Unknown(_said(node))
        case ast.BinOp(left=left, op=operator, right=right):
            return _binary(value_of(left, known, aliases), operator, value_of(right, known, aliases), node)
        case ast.Call():
            return _call(node, known, aliases)
    return Unknown(_said(node))


def _attribute(node: ast.Attribute, known: Known, aliases: Mapping[str, str]) -> Any:
    said = _said(node)
    if said in known:
        return known[said]
    inside = value_of(node.value, known, aliases)
    if isinstance(inside, Block):
        return inside.values.get(node.attr, Unknown(said))
    return Unknown(said)


def _item(held: Any, key: Any, node: ast.expr) -> Any:
    """Returns an item of a list or a mapping; an unknown if it has none of that key."""
    items: Any = held
    try:
        return items[key] if isinstance(held, list | dict) and isinstance(key, str | int) else Unknown(_said(node))
    except (KeyError, IndexError, TypeError):
        return Unknown(_said(node))


def _part(node: ast.expr, known: Known, aliases: Mapping[str, str]) -> Any:
    """Returns the value of a piece of an f-string; one with a format is unknown."""
    if not isinstance(node, ast.FormattedValue):
        return value_of(node, known, aliases)
    plain = node.conversion == -1 and node.format_spec is None
    return value_of(node.value, known, aliases) if plain else Unknown(_said(node.value))


def _joined(parts: list[Any], node: ast.expr) -> Any:
    """Returns pieces as one text; if some are unknown, as an unknown in which these are in angle brackets."""
    if not all(isinstance(part, str | int | float | Unknown) for part in parts):
        return Unknown(_said(node))
    found = "".join(part.shown_inside if isinstance(part, Unknown) else str(part) for part in parts)
    if len(found) > MOST_CHARACTERS:
        return Unknown(_said(node)[:MOST_CHARACTERS])
    return Unknown(found) if any(isinstance(part, Unknown) for part in parts) else found


def _key(node: ast.expr | None, known: Known, aliases: Mapping[str, str]) -> str:
    key = None if node is None else value_of(node, known, aliases)
    return key.said if isinstance(key, Unknown) else str(key)


def _weight(values: Iterable[Any]) -> int:
    """Returns how many values there are; a list that holds another many times counts it so many times."""
    return 1 + sum(getattr(value, "weight", 1) for value in values)


def _items(nodes: list[ast.expr], known: Known, aliases: Mapping[str, str]) -> Any:
    """Returns a list; an unknown if it holds too much."""
    found = _Items()
    for node in nodes:
        inside = value_of(node.value if isinstance(node, ast.Starred) else node, known, aliases)
        found += inside if isinstance(node, ast.Starred) and isinstance(inside, list) else [inside]
    found.weight = _weight(found)
    return found if found.weight <= _MOST_ITEMS else Unknown(_said(nodes[0]))


def inserted(steps: list[Any], place: int, added: list[Any], node: ast.expr) -> Any:
    """Returns a list with more items; an unknown if it holds too much."""
    found = _Items([*steps[:place], *added, *steps[place:]])
    found.weight = _weight(found)
    return found if found.weight <= _MOST_ITEMS else Unknown(_said(node))


def with_value(block: Block, name: str, value: Any) -> Block | Unknown:
    """Returns a block with one more parameter, or another value of it; an unknown if it holds too much."""
    values = {**block.values, name: value}
    weight = _weight(values.values())
    return Block(block.name, block.line, values, weight) if weight <= _MOST_ITEMS else Unknown(f"{block.name}.{name}")


def exchanged(value: Any, old: Block, new: Any, known: dict[int, Any]) -> Any:
    """Returns a value in which a block is another one; the same object if it does not hold it.

    known: results by the identity of values, so that each is looked at once.
    """
    if value is old:
        return new
    if not isinstance(value, list | dict | Block):
        return value
    if id(value) not in known:
        known[id(value)] = _exchanged(value, old, new, known)
    return known[id(value)]


def _exchanged(value: Any, old: Block, new: Any, known: dict[int, Any]) -> Any:
    held = [
        *(value if isinstance(value, list) else value.values.values() if isinstance(value, Block) else value.values())
    ]
    inside = [exchanged(one, old, new, known) for one in held]
    if all(one is other for one, other in zip(held, inside, strict=True)):
        return value
    weight = _weight(inside)
    if weight > _MOST_ITEMS:
        return Unknown("...")
    if isinstance(value, Block):
        return Block(value.name, value.line, dict(zip(value.values, inside, strict=True)), weight)
    found: _Items | _Mapped = _Items(inside) if isinstance(value, list) else _Mapped(zip(value, inside, strict=True))
    found.weight = weight
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _binary(left: Any, operator: ast.operator, right: Any, node: ast.expr) -> Any:
    joins = isinstance(operator, ast.Add)
    if joins and isinstance(left, list) and isinstance(right, list):
        both = _Items([*left, *right])
        both.weight = _weight(both)
        return both if both.weight <= _MOST_ITEMS else Unknown(_said(node))
    if (
        joins
        and isinstance(left, str | Unknown)
        and isinstance(right, str | Unknown)
        and {str} & {type(left), type(right)}
    ):
        return _joined([left, right], node)
    compute = _ARITHMETIC.get(type(operator))
    if compute is None or not (_is_number(left) and _is_number(right)) or max(abs(left), abs(right)) > 2**63:
        return Unknown(_said(node))
    return Unknown(_said(node)) if isinstance(operator, ast.FloorDiv) and right == 0 else compute(left, right)


def _call(node: ast.Call, known: Known, aliases: Mapping[str, str]) -> Any:
    said = _said(node.func)
    if isinstance(function := known.get(said), Function):
        return function.result(node, known, lambda inner, names: value_of(inner, names, aliases))
    name = aliases.get(said, said.rpartition(".")[2])
    given = _items(node.args, known, aliases)
    if isinstance(given, Unknown):
        return Unknown(f"{said}(...)")
    if said in ("os.path.join", "path.join", "join"):
        return _path(given, node)
    if said in ("str", "Path", "pathlib.Path") and len(given) == 1 and isinstance(given[0], str):
        return given[0]
    if said in ("int", "float", "round") and len(given) == 1 and _is_number(given[0]):
        return int(given[0]) if said != "float" else float(given[0])
    if not name[:1].isupper():
        return Unknown(said + "(...)")
    values: dict[str | int, Any] = dict(enumerate(given))
    values |= {one.arg: value_of(one.value, known, aliases) for one in node.keywords if one.arg is not None}
    for place, one in enumerate(one for one in node.keywords if one.arg is None):
        inside = value_of(one.value, known, aliases)
        values |= inside if isinstance(inside, dict) else {f"** {place + 1}": inside}
    weight = _weight(values.values())
    return Block(name, node.lineno, values, weight) if weight <= _MOST_ITEMS else Unknown(f"{said}(...)")


def _path(parts: list[Any], node: ast.expr) -> Any:
    if not parts or not all(isinstance(part, str | Unknown) for part in parts):
        return Unknown(_said(node))
    found: list[Any] = []
    for part in parts:
        whole = isinstance(part, str) and part.startswith("/")
        before = [] if whole or not found else [*found, "" if str(found[-1]).endswith("/") else "/"]
        found = [*before, part]
    return _joined(found, node)


def is_value(value: Any, default: Any) -> bool:
    """Returns whether a value is a default; true is not 1."""
    return isinstance(value, bool) == isinstance(default, bool) and bool(value == default)
