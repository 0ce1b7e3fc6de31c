"""Docstrings and statements of Python source, from its syntax tree; nothing is imported or executed."""

import ast
import gc
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = {"body", "handlers", "orelse", "finalbody", "cases"}  # the fields of a syntax tree that hold statements
_PROCESSES, _FILES_AT_ONCE = 2, 32

File = TypeVar("File")
Docstrings = list[tuple[int, str]]
"""Line and docstring of every class or function; empty if it has none."""


def docstrings_of(files: Sequence[File], read: Callable[[File], str]) -> Iterator[Docstrings]:
    """Yields the docstrings of each file, in order. Two processes read and parse, a few dozen files ahead."""
    batches = (files[start : start + _FILES_AT_ONCE] for start in range(0, len(files), _FILES_AT_ONCE))
    waiting: deque[Future[list[Docstrings]]] = deque()
    with ProcessPoolExecutor(_PROCESSES, get_context("spawn"), gc.disable) as pool:
        try:
            for batch in batches:
                waiting.append(pool.submit(_docstrings_of_batch, batch, read))
                if len(waiting) > 2 * _PROCESSES:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)  # If the caller stops, the rest is not needed.


def _docstrings_of_batch(files: Sequence[File], read: Callable[[File], str]) -> list[Docstrings]:
    return [_docstrings(read(file)) for file in files]


def _docstrings(text: str) -> Docstrings:
    nodes = (node for node in statements(text) if isinstance(node, _DEFINITIONS))
    return [(node.lineno, ast.get_docstring(node) or "") for node in nodes]


def statements(text: str) -> Iterator[ast.AST]:
    """Yields the blocks and statements of a module in the order of `ast.walk`, which also visits all expressions."""
    level = list(_parsed(text))
    while level:
        yield from level
        lists = (getattr(node, name, None) for node in level for name in node._fields if name in _BLOCKS)
        level = [node for found in lists if isinstance(found, list) for node in found]


def nodes(text: str) -> Iterator[ast.AST]:
    """Yields every node of a module; none if it cannot be parsed."""
    return (node for tree in _parsed(text) for node in ast.walk(tree))


def _parsed(text: str) -> Iterator[ast.AST]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    # Some packages have sources for other Python versions, or test files that no parser accepts.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield tree
