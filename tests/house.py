"""The import graph of the project, read from its sources: every import counts, late ones and those for types too."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
PACKAGES = ("corpus_assets", "resources", "partitions")
Edges = Mapping[str, set[str]]


@cache
def sources(top: Path = TOP) -> dict[str, Path]:
    """Every module of the project: dotted name and file."""
    found = {}
    for package in PACKAGES:
        for file in sorted((top / package).rglob("*.py")):
            parts = file.relative_to(top).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imported(file: Path) -> set[str]:
    """Full dotted names that a file imports: modules, and names in them."""
    return {name for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) for name in _names(node)}


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative import"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def roots(names: Iterable[str]) -> set[str]:
    """The top-level packages of dotted names."""
    return {name.partition(".")[0] for name in names}


@cache
def file_edges(top: Path = TOP) -> dict[str, set[str]]:
    """Which modules of the project each module imports."""
    known = sources(top)
    return {module: {_module(name, known) for name in imported(file)} - {"", module} for module, file in known.items()}


def _module(name: str, known: Mapping[str, Path]) -> str:
    """The module that a dotted name leads to: itself, or the one that holds the name; empty for another project's."""
    if name in known:
        return name
    holder = name.rpartition(".")[0]
    return holder if holder in known else ""


def folder_edges(folder: str, edges: Edges) -> dict[str, set[str]]:
    """Which children of a folder import which others; a child is a file, or a folder with all that is in it."""
    depth = folder.count(".") + 2 if folder else 1
    found: dict[str, set[str]] = {}
    for module, targets in edges.items():
        for target in targets:
            if _inside(module, folder) and _inside(target, folder):
                child, other = _child(module, depth), _child(target, depth)
                if child != other:
                    found.setdefault(child, set()).add(other)
    return found


def _inside(module: str, folder: str) -> bool:
    return not folder or module == folder or module.startswith(f"{folder}.")


def _child(module: str, depth: int) -> str:
    return ".".join(module.split(".")[:depth])


def circles(edges: Edges) -> list[list[str]]:
    """Groups of nodes that reach each other (Tarjan 1972), each sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in edges.get(node, ()):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                found.append(sorted(group))

    for node in edges:
        if node not in index:
            visit(node)
    return found
