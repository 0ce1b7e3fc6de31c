"""What a configuration says that its defaults do not: the shortest file that gives the same."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.reading.loading import Loaded, parse_config
from corpus_assets.config.reading.profiles import PROFILES
from resources.errors import ConfigError

NO_DEFAULT = object()
TAGS = ("kind", "mode", "format")
"""Keys that say which section it is, without which others mean nothing."""
_MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Differing:
    """A key with another value than its default. where: which file and line gives it, if there are several.

    name: the key with names of entries of lists, as `--set` takes it. default: `NO_DEFAULT` if it must be given.
    """

    key: str
    name: str
    value: Any
    default: Any
    where: str = ""

    @property
    def readable_default(self) -> Any:
        """The default as one would write it: `128 MiB`, if a size was given in words, and else as it is."""
        is_size = isinstance(self.value, str) and type(self.default) is int and self.default % _MEBIBYTE == 0
        return f"{self.default // _MEBIBYTE} MiB" if is_size else self.default


def differing_values(loaded: Loaded) -> dict[str, Any]:
    """Returns what was given, without what is as by default: another file with this alone gives the same."""
    short = _section(loaded.values, loaded.config, _defaults(loaded.config))
    found = loaded.values
    for key in loaded.values:
        shorter = {**found, key: short[key]} if key in short else {name: found[name] for name in found if name != key}
        if _gives(shorter, loaded.config):  # Some keys are only valid, or have their defaults, beside others.
            found = shorter
    return found


def _gives(values: dict[str, Any], config: CorpusConfig) -> bool:
    try:
        return parse_config(values).model_dump() == config.model_dump()
    except ConfigError:
        return False


def differing(loaded: Loaded) -> Iterator[Differing]:
    """Yields every key with another value than its default, in the order in which they were given."""
    values = differing_values(loaded)
    for key in loaded.values:
        if key in values:
            default = getattr(_defaults(loaded.config), key, NO_DEFAULT)
            for one in _flat(values[key], getattr(loaded.config, key), default, (key, key)):
                yield replace(one, where=loaded.where(one.key))


def _defaults(config: CorpusConfig) -> CorpusConfig:
    """Returns the configuration that says nothing but the profile; without sources it could not be built."""
    profile = PROFILES.get(config.compat or "", {})
    sections = {name: type(getattr(config, name)).model_validate(values) for name, values in profile.items()}
    return CorpusConfig.model_construct(**sections)


def _section(given: Mapping[str, Any], section: BaseModel, default: BaseModel | None) -> dict[str, Any]:
    """Returns the given keys of a section that differ from a default of the same kind, or without one from its own."""
    found = {}
    for key, value in given.items():
        now, before = getattr(section, key, value), _default_of(section, default, key)
        if key in TAGS or before is NO_DEFAULT or not _equal(now, before):
            found[key] = _shortened(value, now, before)
    return found


def _default_of(section: BaseModel, default: BaseModel | None, key: str) -> Any:
    field = type(section).model_fields.get(key)
    if field is None or (default is None and field.is_required()):
        return NO_DEFAULT
    return getattr(default, key) if default is not None else field.get_default(call_default_factory=True)


def _shortened(given: Any, now: Any, default: Any) -> Any:
    if isinstance(given, Mapping) and isinstance(now, BaseModel):
        return _section(given, now, default if type(default) is type(now) else None)
    if isinstance(given, list) and isinstance(now, list) and len(given) == len(now):
        return [_shortened(one, made, None) for one, made in zip(given, now, strict=True)]
    if isinstance(given, Mapping) and isinstance(now, Mapping):
        return {key: _shortened(one, now.get(key), None) for key, one in given.items()}
    return given


def _equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and _plain(one) == _plain(other)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump()
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _flat(value: Any, now: Any, default: Any, at: tuple[str, str]) -> Iterator[Differing]:
    """Yields the keys below one. at: its key and name."""
    key, name = at
    if isinstance(value, Mapping) and value and isinstance(now, BaseModel):
        same = default if isinstance(default, BaseModel) and type(default) is type(now) else None
        for below, one in value.items():
            before = _default_of(now, same, below)
            yield from _flat(one, getattr(now, below, one), before, (f"{key}.{below}", f"{name}.{below}"))
    elif isinstance(value, Mapping) and value and isinstance(now, Mapping):
        for below, one in value.items():
            yield from _flat(one, now.get(below), NO_DEFAULT, (f"{key}.{below}", f"{name}.{below}"))
    elif isinstance(value, list) and isinstance(now, list) and any(isinstance(one, BaseModel) for one in now):
        for number, (one, made) in enumerate(zip(value, now, strict=True)):
            called = getattr(made, "name", number)
            yield from _flat(one, made, NO_DEFAULT, (f"{key}.{number}", f"{name}.{called}"))
    else:
        yield Differing(key, name, value, default)
