"""What a configuration file says and where: its values as a tree whose every node knows its file and line."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import yaml

from corpus_assets.config.reading.strict_yaml import load_yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MERGE = "tag:yaml.org,2002:merge"


class Line(NamedTuple):
    """A line of a file, counted from 1."""

    file: Path
    number: int


@dataclass(frozen=True)
class Written:
    """A value, or the written values of a mapping or of a list, and the line on which its key or entry stands."""

    line: Line
    value: "Value"

    def plain(self) -> Any:
        """Returns the plain values."""
        if isinstance(self.value, dict):
            return {key: below.plain() for key, below in self.value.items()}
        return [below.plain() for below in self.value] if isinstance(self.value, list) else self.value

    def at(self, path: str) -> Line:
        """Returns the line of a dotted key; for one that is not written, that of the section in which it would be."""
        held, rest = self, path
        while rest:
            found = _below(held.value, rest)
            if found is None:
                break
            held, rest = found
        return held.line


Value: TypeAlias = "dict[Any, Written] | list[Written] | object"


def written(text: str, file: Path) -> Written:
    """Returns what a file says. `ConfigError` if it is not YAML that can be used (`load_yaml`)."""
    values = load_yaml(text, str(file))
    node = yaml.compose(text, _LOADER)
    return _written(values, node, Line(file, 1), file)


def _written(value: Any, node: yaml.Node | None, line: Line, file: Path) -> Written:
    if isinstance(value, dict) and isinstance(node, yaml.MappingNode) and not _merges(node):
        pairs = zip(value.items(), node.value, strict=True)
        below = {key: _written(one, of, _line(name, file), file) for (key, one), (name, of) in pairs}
        return Written(line, below)
    if isinstance(value, list) and isinstance(node, yaml.SequenceNode):
        entries = zip(value, node.value, strict=True)
        return Written(line, [_written(one, of, _line(of, file), file) for one, of in entries])
    if isinstance(value, dict):  # Keys of another mapping are among them: which stands where is not known.
        return Written(line, {key: _written(one, None, line, file) for key, one in value.items()})
    if isinstance(value, list):
        return Written(line, [_written(one, None, line, file) for one in value])
    return Written(line, value)


def _merges(node: yaml.MappingNode) -> bool:
    return any(key.tag == _MERGE for key, _ in node.value)


def _line(node: yaml.Node, file: Path) -> Line:
    return Line(file, node.start_mark.line + 1)


def _below(value: Value, path: str) -> tuple[Written, str] | None:
    """Returns the value under the first key of a dotted path, and the rest of the path. Keys may hold dots."""
    keys: Mapping[str, Written] = dict(_children(value))
    for place in [*_dots(path), len(path)]:
        if (found := keys.get(path[:place])) is not None:
            return found, path[place + 1 :]
    return None


def _children(value: Value) -> Iterator[tuple[str, Written]]:
    if isinstance(value, dict):
        yield from ((str(key), below) for key, below in value.items())
    elif isinstance(value, list):
        yield from ((str(number), below) for number, below in enumerate(value))


def _dots(path: str) -> Iterator[int]:
    return (place for place, character in enumerate(path) if character == ".")
