"""The configuration as it is used, written as YAML: what corpus.yaml sets, and the defaults as comments."""

import re
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

import msgspec
from pydantic import BaseModel

from resources.outside.hidden import is_secret

_WIDTH = 110
_NOT_SHOWN = "(not shown)"
_BARE = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./ -]*")
_NO_TEXT = re.compile(r"(?i:true|false|yes|no|on|off|null|[-+.0-9].*)")


def config_text(config: BaseModel) -> str:
    """Returns a configuration as YAML that gives the same configuration; comments name the defaults it leaves open."""
    return "\n".join(_section(config, ""))


def shown_text(config: BaseModel) -> str:
    """Returns the same for a page: values whose names say that they are secrets are left out."""
    values = {name: _hidden(name, getattr(config, name)) for name in config.model_fields_set}
    return config_text(config.model_copy(update=values))


def _hidden(name: str, value: Any) -> Any:
    """Returns a value without secrets in it, or in the options below it, which may have any names."""
    if isinstance(value, BaseModel):
        below = {key: _hidden(key, getattr(value, key)) for key in value.model_fields_set}
        return value.model_copy(update=below)
    if isinstance(value, Mapping):
        return {key: _hidden(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_hidden(name, inner) for inner in value]
    return _NOT_SHOWN if isinstance(value, str) and is_secret(name, value) else value


def _section(section: BaseModel, indent: str) -> Iterator[str]:
    """Yields the lines of a section: first what is set, then the defaults."""
    values = {name: getattr(section, name) for name in type(section).model_fields}
    given = section.model_fields_set
    for name, value in values.items():
        if name in given:
            yield from _entry(name, value, indent)
    defaults = [f"{name}: {_flow(value)}" for name, value in values.items() if name not in given]
    if defaults:
        yield from wrap(
            f"defaults: {', '.join(defaults)}",
            _WIDTH,
            initial_indent=f"{indent}# ",
            subsequent_indent=f"{indent}#   ",
            break_on_hyphens=False,
            break_long_words=False,
        )


def _entry(name: str, value: Any, indent: str) -> Iterator[str]:
    deeper = f"{indent}  "
    if isinstance(value, BaseModel):
        yield f"{indent}{name}:"
        yield from _section(value, deeper)
    elif isinstance(value, Mapping) and any(isinstance(inner, BaseModel | Mapping) for inner in value.values()):
        yield f"{indent}{name}:"
        for key, inner in value.items():
            yield from _entry(_scalar(str(key)), inner, deeper)
    elif isinstance(value, list) and any(isinstance(inner, BaseModel) for inner in value):
        yield f"{indent}{name}:"
        for inner in value:
            yield from _item(inner, deeper)
    elif isinstance(value, str) and "\n" in value:
        yield f"{indent}{name}: |{'' if value.endswith(chr(10)) else '-'}"
        yield from (f"{deeper}{line}" for line in value.rstrip("\n").split("\n"))
    else:
        yield f"{indent}{name}: {_flow(value)}"


def _item(value: Any, indent: str) -> Iterator[str]:
    if not isinstance(value, BaseModel):
        yield f"{indent}- {_flow(value)}"
        return
    for number, line in enumerate(_section(value, f"{indent}  ")):
        yield f"{indent}- {line[len(indent) + 2 :]}" if number == 0 else line


def _flow(value: Any) -> str:
    """Returns a value on one line."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", exclude_unset=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(str(key))}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    """Returns a plain value; text is quoted where YAML would read something else."""
    if isinstance(value, str) and _BARE.fullmatch(value) and not value.endswith(" ") and not _NO_TEXT.fullmatch(value):
        return value
    return msgspec.json.encode(value).decode()
