"""`extends: base.yaml`: a file that says only what differs from another one (docs/variants.md)."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus_assets.config.reading.faults import shown
from corpus_assets.config.reading.strict_yaml import MAX_CONFIG_BYTES, load_yaml
from corpus_assets.config.reading.written import Written, written
from corpus_assets.config.ready_templates import template_in_place
from corpus_assets.config.section import expanded
from resources.errors import ConfigError, require_of_the_file
from resources.outside.looking import real_path
from resources.raw_places.addresses import scheme_of

EXTENDS = "extends"
ADDS = "+"
MOST_FILES = 8
PATHS = frozenset({"location", "path", "merges", "encoder", "config", "chat_template", "lists", "model"})
"""Keys whose text, or list of texts, is a path wherever they stand."""
PATHS_AT = {
    "ccnet_perplexity": {"tokenizer"},
    "ccnet_bucket": {"tokenizer", "borders"},
    "endpoint": {"answers"},
    "fineweb2": {"configs"},
    "origins": {"suffix_list"},
    "positive": {"file"},
    "negative": {"file"},
    "storage": {"root"},
    "cache": {"folder"},
    "weights": {"shares", "tokens"},
    "sample": {"of"},
}
"""Keys whose text is a path in a section of this name."""
NO_PATHS_AT = {"endpoint": {"model"}}
"""Keys of `PATHS` whose text is none in a section of this name."""
_OWN = "own"


@dataclass(frozen=True)
class Read:
    """The plain values of a configuration, and the files that give them, the first of which was asked for.

    lines: where each value is written; None if no file is extended, since then there is but one.
    """

    values: Any
    files: tuple[Path, ...]
    lines: Written | None = None

    def where(self, key: str) -> str:
        """Returns in words which file and line gives a dotted key; empty if there is but one file."""
        if self.lines is None:
            return ""
        line = self.lines.at(key)
        return f"{os.path.relpath(line.file, self.files[0].parent)}, line {line.number}"


def read_values(file: Path) -> Read:
    """Returns what a file and those that it extends say together.

    `ConfigError` if one of them cannot be read or is no configuration, if they extend each other in a circle, or if
    there are more than `MOST_FILES`.
    """
    text = read_text(file)
    values = load_yaml(text, str(file))
    if not isinstance(values, dict) or EXTENDS not in values:
        return Read(values, (file,))
    files = [file]
    lines = _extended(written(text, file), file, files)
    return Read(lines.plain(), tuple(files), lines)


def read_text(file: Path) -> str:
    """Returns the text of a configuration file; `ConfigError` if it cannot be read or is too large.

    `StorageError` if the machine cannot read it now.
    """
    try:
        if file.stat().st_size > MAX_CONFIG_BYTES:
            raise ConfigError(f"{file}: {file.stat().st_size} bytes; a configuration has at most {MAX_CONFIG_BYTES}")
        return file.read_text(encoding="utf-8")
    except OSError as error:
        require_of_the_file(str(file), error)
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8: {error}") from None


def _extended(variant: Written, file: Path, files: list[Path]) -> Written:
    """Returns what a file says over what the file that it extends says. files: those that were read, longer after."""
    if not isinstance(variant.value, dict) or EXTENDS not in variant.value:
        return variant
    below = {key: value for key, value in variant.value.items() if key != EXTENDS}
    base = _base(variant.value[EXTENDS], file, files)
    files.append(base)
    said = f"{file}, line {variant.value[EXTENDS].line.number}: extends"
    try:
        found = written(read_text(base), base)
    except ConfigError as error:
        raise ConfigError(f"{error} ({said} it)") from None
    if not isinstance(found.value, dict):
        raise ConfigError(f"{said}: {base} holds {shown(found.plain())}; valid is a mapping")
    found = _extended(_moved(found, base.parent, files[0].parent), base, files)
    return Written(variant.line, _over(found, Written(variant.line, below), "").value)


def _base(given: Written, file: Path, files: list[Path]) -> Path:
    """Returns the file that another one extends."""
    said = f"{file}, line {given.line.number}: extends"
    value = given.value
    if not isinstance(value, str) or not value or scheme_of(value):
        received = shown(given.plain())
        raise ConfigError(f"{said}: received {received}; valid is the path of one file of this machine")
    base = Path(os.path.normpath(file.absolute().parent / expanded(value)))
    if real_path(base) in map(real_path, files):
        chain = " -> ".join(str(one) for one in [*files, base])
        raise ConfigError(f"{said}: received {value!r}, which makes a circle: {chain}")
    if len(files) == MOST_FILES:
        raise ConfigError(f"{said}: received {value!r}; at most {MOST_FILES} files extend one another")
    return base


def _over(base: Written, variant: Written, key: str) -> Written:
    """Returns a value with another over it: mappings key by key, entries of a list by name, anything else replaced."""
    above = variant.value
    if not isinstance(above, dict):
        return variant
    if isinstance(base.value, list):
        return Written(variant.line, _by_name(base.value, above, key))
    if not isinstance(base.value, dict):
        return variant
    merged = dict(base.value)
    for name, value in above.items():
        if name not in merged:
            merged[name] = value
        elif value.value is None:
            del merged[name]
        else:
            merged[name] = _over(merged[name], value, f"{key}.{name}".lstrip("."))
    return Written(variant.line, merged)


def _by_name(entries: list[Written], changes: dict[Any, Written], key: str) -> list[Written]:
    """Returns the entries of a list with those changed, removed or added that a mapping names."""
    named = {_name(entry): entry for entry in entries}
    there = ", ".join(map(str, named))
    for given, change in changes.items():
        name, place = str(given).removeprefix(ADDS), f"{change.line.file}, line {change.line.number}: {key}.{given}"
        if None in named:
            raise ConfigError(
                f"{place}: entries of the base have no `name`; valid is a list, which replaces all of them"
            )
        if (name in named) == str(given).startswith(ADDS):
            raise ConfigError(
                f"{place}: valid over the list of the base are its names ({there}), and {ADDS}NAME to add one"
            )
        if isinstance(change.value, dict):
            found = named.get(name, Written(change.line, {"name": Written(change.line, name)}))
            named[name] = _over(found, change, f"{key}.{name}")
        elif change.value is None and name in named:
            del named[name]
        else:
            valid = "a mapping of the keys to change, or null to take the entry away"
            raise ConfigError(f"{place}: received {shown(change.plain())}; valid is {valid}")
    return list(named.values())


def _name(entry: Written) -> Any:
    name = entry.value.get("name") if isinstance(entry.value, dict) else None
    return name.value if isinstance(name, Written) else None


def _moved(base: Written, folder: Path, to: Path) -> Written:
    """Returns what a file says with its relative paths, which start at its own folder, made to start at another."""
    there = os.path.relpath(real_path(folder), real_path(to))
    return base if there == "." else _with_paths(base, "", there)


def _with_paths(held: Written, section: str, folder: str) -> Written:
    if isinstance(held.value, list):
        return Written(held.line, [_with_paths(entry, section, folder) for entry in held.value])
    if not isinstance(held.value, dict):
        return held
    paths = (PATHS | PATHS_AT.get(section, set())) - NO_PATHS_AT.get(section, set())
    return Written(held.line, dict(_entries(held.value, paths, folder)))


def _entries(below: dict[Any, Written], paths: frozenset[str], folder: str) -> Iterator[tuple[Any, Written]]:
    for key, value in below.items():
        if key == _OWN:
            yield key, value
        elif key in paths and isinstance(value.value, str | list):
            yield key, _path(value, folder)
        else:
            yield key, _with_paths(value, str(key), folder)


def _path(held: Written, folder: str) -> Written:
    if isinstance(held.value, list):
        return Written(held.line, [_path(entry, folder) for entry in held.value])
    path = held.value
    if not isinstance(path, str) or not path or scheme_of(path) or template_in_place(path):
        return held
    return held if Path(expanded(path)).is_absolute() else Written(held.line, os.path.normpath(f"{folder}/{path}"))
