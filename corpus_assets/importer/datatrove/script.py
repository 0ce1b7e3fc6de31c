"""The pipelines of a script of datatrove, from its syntax."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from corpus_assets.importer.datatrove.values import Block, inserted, value_of
from corpus_assets.importer.given import Unknown
from corpus_assets.importer.reading import read_text
from resources.errors import ConfigError

_MOST_NODES = 200_000


class Pipeline(NamedTuple):
    """Steps of a pipeline, and the executor that runs them; None if only the list is written down."""

    steps: list[Any]
    executor: Block | None


def read_pipelines(file: Path) -> list[Pipeline]:
    """Returns the pipelines of a script in the order of its lines. `ConfigError` if it is no Python, or has none."""
    text = read_text(file)
    try:
        tree = ast.parse(text, str(file))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConfigError(f"{file}: is no Python that can be parsed: {error}") from None
    if sum(1 for _ in ast.walk(tree)) > _MOST_NODES:
        raise ConfigError(f"{file}: a script has at most {_MOST_NODES:,} names and values")
    reader = _Reader(tree)
    try:
        reader.read(tree.body)
    except RecursionError:
        raise ConfigError(f"{file}: nested too deep") from None
    found = reader.of_calls
    if not any(isinstance(step, Block) for pipeline in found for step in pipeline.steps):
        found = [*found, *(Pipeline(steps, None) for steps in reader.lists)]
    if not found:
        raise ConfigError(f"{file}: has no pipeline; valid: a script with `pipeline=[...]` of an executor of datatrove")
    return found


class _Reader:
    """Reads statements in order, and keeps the values of names."""

    def __init__(self, tree: ast.Module) -> None:
        self.known: dict[str, Any] = _defaults(tree)
        self.aliases = dict(_aliases(tree))
        self.of_calls: list[Pipeline] = []
        self.lists: list[list[Any]] = []
        self.seen: set[int] = set()

    def read(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                for argument in (*statement.args.posonlyargs, *statement.args.args, *statement.args.kwonlyargs):
                    self.known.setdefault(argument.arg, Unknown(argument.arg))
            value = getattr(statement, "value", None)
            if isinstance(value, ast.expr):
                self._read_value(statement, value)
            for name in ("body", "orelse", "finalbody", "handlers"):
                for inside in getattr(statement, name, None) or ():
                    self.read(inside.body if isinstance(inside, ast.ExceptHandler) else [inside])

    def _read_value(self, statement: ast.stmt, node: ast.expr) -> None:
        if (added := _added(statement)) is not None:
            self._insert(*added)
            self._keep_executors(node)
            return
        value = value_of(node, self.known, self.aliases)
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        for target in (one for one in targets if isinstance(one, ast.Name)):
            self.known[target.id] = value
        if isinstance(value, list) and any(isinstance(step, Block) for step in value):
            self.lists.append(value)
        self._keep_executors(node)

    def _insert(self, name: str, at: ast.expr | None, node: ast.expr) -> None:
        """Inserts the items of a list into a known one, at its end or a place."""
        steps, added = self.known.get(name), value_of(node, self.known, self.aliases)
        place = len(steps) if at is None and isinstance(steps, list) else at and value_of(at, self.known, self.aliases)
        if not (isinstance(steps, list) and isinstance(place, int)):
            return
        value = inserted(steps, place, added if isinstance(added, list) else [added], node)
        self.known[name] = value
        self.lists = [one for one in self.lists if one is not steps]
        if isinstance(value, list) and any(isinstance(step, Block) for step in value):
            self.lists.append(value)

    def _keep_executors(self, node: ast.expr) -> None:
        """Keeps each executor that an expression makes (`run()` may follow it), and steps given to other functions."""
        for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
            block = value_of(call, self.known, self.aliases)
            if isinstance(block, Block):
                if block.name.endswith("Executor") and block.line not in self.seen:
                    self.seen.add(block.line)
                    steps = block.values.get("pipeline", block.values.get(0))
                    self.of_calls.append(Pipeline(steps if isinstance(steps, list) else [steps], block))
                continue
            for given in (*call.args, *(one.value for one in call.keywords)):
                steps = value_of(given, self.known, self.aliases) if isinstance(given, ast.List) else None
                if isinstance(steps, list) and any(isinstance(step, Block) for step in steps):
                    self.of_calls.append(Pipeline(steps, None))


def _added(statement: ast.stmt) -> tuple[str, ast.expr | None, ast.expr] | None:
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


def _aliases(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((name.asname, name.name) for name in node.names if name.asname)
        if isinstance(node, ast.ClassDef) and not node.name.endswith("Executor"):
            yield node.name, f"{node.name} of the script itself"


def _defaults(tree: ast.Module) -> dict[str, Any]:
    """Returns the defaults of `add_argument` as values of `args.NAME`, and of parameters of functions."""
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr != "add_argument" or not node.args:
            continue
        names = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        default = next((one.value for one in node.keywords if one.arg == "default"), None)
        if names and isinstance(default, ast.Constant) and default.value is not None:
            long = next((name for name in names if name.startswith("--")), names[0])
            found[f"args.{long.lstrip('-').replace('-', '_')}"] = default.value
    return found
