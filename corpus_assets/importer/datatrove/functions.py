"""Functions of a script that return steps: what they give for the arguments of a call; nothing of them is ever run."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from corpus_assets.importer.given import Unknown

Value = Callable[[ast.expr, Mapping[str, Any]], Any]
_MOST_NODES, _MOST_WITHIN = 500_000, 20
_PLAIN = bool | int | float | str | None


@dataclass
class Budget:
    """How many names and values of functions may still be computed, and how many calls may lie within each other."""

    nodes: int = _MOST_NODES
    depth: int = _MOST_WITHIN


@dataclass
class Function:
    """A function of the script. budget: shared by all of them. followed: whether a call of it gave a value."""

    node: ast.FunctionDef
    budget: Budget
    followed: bool = False
    nodes: int = field(init=False)

    def __post_init__(self) -> None:
        """Counts its names and values."""
        self.nodes = sum(1 for _ in ast.walk(self.node))

    def result(self, call: ast.Call, known: Mapping[str, Any], value: Value) -> Any:
        """Returns what a call gives; an unknown if the function does more than put steps together.

        known: values of names at the call. value: computes an expression.
        """
        said = Unknown(f"{self.node.name}(...)")
        self.budget.nodes -= self.nodes
        if min(self.budget.nodes, self.budget.depth) <= 0 or (given := self._bound(call, known, value)) is None:
            return said
        self.budget.depth -= 1
        returned, found = _follow(self.node.body, {**known, **given}, value)
        self.budget.depth += 1
        if not returned or isinstance(found, Unknown):
            return said
        self.followed = True
        return found

    def _bound(self, call: ast.Call, known: Mapping[str, Any], value: Value) -> dict[str, Any] | None:
        """Returns the parameters of a call by name; None if they do not fit."""
        has = self.node.args
        names = [one.arg for one in (*has.posonlyargs, *has.args)]
        if len(call.args) > len(names) or has.vararg or has.kwarg:
            return None
        if any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords):
            return None
        late = names[len(names) - len(has.defaults) :]
        defaults = [*zip(late, has.defaults, strict=True)]
        named = zip((one.arg for one in has.kwonlyargs), has.kw_defaults, strict=True)
        found = {name: value(node, known) for name, node in (*defaults, *named) if node is not None}
        found |= {name: value(node, known) for name, node in zip(names, call.args, strict=False)}
        found |= {one.arg: value(one.value, known) for one in call.keywords if one.arg is not None}
        wanted = {*names, *(one.arg for one in has.kwonlyargs)}
        return found if found.keys() == wanted else None


def growth(statement: ast.stmt) -> tuple[str, ast.expr | None, ast.expr] | None:
    """Returns name, place (None for the end) and new items where a statement makes a list longer."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=items):
            return name, None, items
        case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="extend"), args=[items])):
            return name, None, items
        case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[one])):
            return name, None, ast.List([one], ast.Load())
        case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="insert"), args=[at, one])):
            return name, at, ast.List([one], ast.Load())
    return None


def _follow(statements: list[ast.stmt], known: dict[str, Any], value: Value) -> tuple[bool, Any]:
    """Returns whether statements return, and what; an unknown as soon as one does more than put lists together."""
    for statement in statements:
        added = growth(statement)
        match statement:
            case ast.Return(value=node):
                return True, None if node is None else value(node, known)
            case ast.Expr(ast.Constant()):
                continue
            case ast.Assign(targets=[ast.Name(id=name)], value=node):
                known[name] = value(node, known)
            case ast.If(test=test, body=body, orelse=orelse):
                decided = value(test, known)
                if not isinstance(decided, _PLAIN):
                    return True, Unknown("if")
                returned, found = _follow(body if decided else orelse, known, value)
                if returned:
                    return True, found
            case _ if added is not None and added[1] is None:
                name, _, items = added
                known[name] = value(ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), items), known)
            case _:
                return True, Unknown("statement")
    return False, None
