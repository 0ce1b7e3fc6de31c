"""The pipelines of a script of datatrove, from its syntax."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from corpus_assets.importer.datatrove.functions import Budget, Function, growth
from corpus_assets.importer.datatrove.values import Block, exchanged, inserted, value_of, with_value
from corpus_assets.importer.given import Unknown
from corpus_assets.importer.reading import read_text
from resources.errors import ConfigError

_MOST_NODES = 200_000
_MOST_ATTRIBUTES = 200


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
        found = [*found, *(Pipeline(steps, None) for steps, of in reader.lists if of is None or not of.followed)]
    if not found:
        raise ConfigError(f"{file}: has no pipeline; valid: a script with `pipeline=[...]` of an executor of datatrove")
    return found


class _Reader:
    """Reads statements in order, and keeps the values of names."""

    def __init__(self, tree: ast.Module) -> None:
        self.known: dict[str, Any] = _defaults(tree)
        self.aliases = dict(_aliases(tree))
        self.of_calls: list[Pipeline] = []
        self.lists: list[tuple[list[Any], Function | None]] = []
        """Each with the function in which it stands."""
        self._placed: dict[tuple[int, int], int] = {}
        """Places in `of_calls` by the lines of the executor and of the call that gave it."""
        self._budget = Budget()
        self._inside: Function | None = None
        self._attributes = 0

    def read(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                for argument in (*statement.args.posonlyargs, *statement.args.args, *statement.args.kwonlyargs):
                    self.known.setdefault(argument.arg, Unknown(argument.arg))
            if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
                turns = value_of(statement.iter, self.known, self.aliases)
                texts = [one for one in turns if isinstance(one, str)] if isinstance(turns, list) else []
                self.known[statement.target.id] = Unknown(statement.target.id, texts)
            outer = self._inside
            if isinstance(statement, ast.FunctionDef):
                self._inside = self.known[statement.name] = Function(statement, self._budget)
            value = getattr(statement, "value", None)
            if isinstance(value, ast.expr):
                self._read_value(statement, value)
            for name in ("body", "orelse", "finalbody", "handlers"):
                for inside in getattr(statement, name, None) or ():
                    self.read(inside.body if isinstance(inside, ast.ExceptHandler) else [inside])
            self._inside = outer

    def _read_value(self, statement: ast.stmt, node: ast.expr) -> None:
        if (added := growth(statement)) is not None:
            self._insert(*added)
            self._keep_executors(node, None)
            return
        value = value_of(node, self.known, self.aliases)
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name):
                self.known[target.id] = value
            elif isinstance(target, ast.Attribute):
                self._set(target, value)
        self._keep_list(value)
        self._keep_executors(node, value)

    def _set(self, target: ast.Attribute, value: Any) -> None:
        """Gives a block another value wherever it is held, or keeps that of an attribute of something else."""
        block = value_of(target.value, self.known, self.aliases)
        if not isinstance(block, Block):
            self.known[ast.unparse(target)] = value
            return
        self._attributes += 1
        if self._attributes > _MOST_ATTRIBUTES:
            raise ConfigError(f"a script sets at most {_MOST_ATTRIBUTES:,} attributes of blocks")
        done: dict[int, Any] = {}
        new = with_value(block, target.attr, value)
        self.known = {name: exchanged(one, block, new, done) for name, one in self.known.items()}
        self.lists = [(exchanged(steps, block, new, done), of) for steps, of in self.lists]
        for place, (steps, executor) in enumerate(self.of_calls):
            if executor is None:
                self.of_calls[place] = Pipeline(exchanged(steps, block, new, done), None)
            elif isinstance(changed := exchanged(executor, block, new, done), Block):
                self.of_calls[place] = _of_executor(changed)

    def _keep_list(self, value: Any) -> None:
        if isinstance(value, list) and any(isinstance(step, Block) for step in value):
            self.lists.append((value, self._inside))

    def _insert(self, name: str, at: ast.expr | None, node: ast.expr) -> None:
        """Inserts the items of a list into a known one, at its end or a place."""
        steps, added = self.known.get(name), value_of(node, self.known, self.aliases)
        place = len(steps) if at is None and isinstance(steps, list) else at and value_of(at, self.known, self.aliases)
        if not (isinstance(steps, list) and isinstance(place, int)):
            return
        value = inserted(steps, place, added if isinstance(added, list) else [added], node)
        self.known[name] = value
        self.lists = [(one, of) for one, of in self.lists if one is not steps]
        self._keep_list(value)

    def _keep_executors(self, node: ast.expr, value: Any) -> None:
        """Keeps each executor that an expression makes (`run()` may follow it), and steps given to other functions."""
        for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
            block = value if call is node else value_of(call, self.known, self.aliases)
            if isinstance(block, Block):
                if block.name.endswith("Executor"):
                    self._place(block, call.lineno)
                continue
            for given in (*call.args, *(one.value for one in call.keywords)):
                steps = value_of(given, self.known, self.aliases) if isinstance(given, ast.List) else None
                if isinstance(steps, list) and any(isinstance(step, Block) for step in steps):
                    self.of_calls.append(Pipeline(steps, None))

    def _place(self, block: Block, line: int) -> None:
        """Keeps an executor once. One that a function returns takes the place of what its lines alone say."""
        if (block.line, line) in self._placed:
            return
        written = self._placed.pop((block.line, block.line), None) if line != block.line else None
        if written is None:
            written = len(self.of_calls)
            self.of_calls.append(_of_executor(block))
        self.of_calls[written] = _of_executor(block)
        self._placed[block.line, line] = written


def _of_executor(block: Block) -> Pipeline:
    steps = block.values.get("pipeline", block.values.get(0))
    return Pipeline(steps if isinstance(steps, list) else [steps], block)


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
