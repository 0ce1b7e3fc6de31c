"""What is wrong with a configuration, in words: the key's path, what was received, and what is valid."""

import difflib
from collections.abc import Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

Location = Sequence[int | str]


def faults(error: ValidationError, model: type[BaseModel], values: Any) -> Iterator[str]:
    """One line per fault of `values`, checked against `model`."""
    for detail in error.errors():
        of_section = detail["type"] == "value_error" and isinstance(detail["input"], BaseModel | dict)
        path = key_path(detail["loc"], values, absent=not of_section)
        fault = _fault(detail, model)
        yield f"{path}: {fault}" if path else fault


def key_path(location: Location, values: Any, *, absent: bool) -> str:
    """Pydantic's location as a reader of the file knows it: without the branches of unions, which are no keys.

    absent: the last part may be a key that the file does not have, under that name.
    """
    parts = []
    for place, part in enumerate(location):
        if isinstance(values, dict) and (part in values or (absent and place == len(location) - 1)):
            values = values.get(part)
        elif isinstance(values, list) and isinstance(part, int):
            values = values[part]
        else:
            continue
        parts.append(str(part))
    return ".".join(parts)


def shown(value: Any) -> str:
    """A value and its type, cut short."""
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def _fault(detail: ErrorDetails, model: type[BaseModel]) -> str:
    kind, received = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        return f"unknown key{_suggestion(detail['loc'], model)}"
    if kind == "missing":
        return "missing, but required"
    if kind == "literal_error":
        return f"received {shown(received)}; valid: {detail['ctx']['expected']}"
    if kind == "union_tag_invalid":
        return f"received {detail['ctx']['tag']!r} as {detail['ctx']['discriminator']}; valid: {_tags(detail)}"
    if kind == "union_tag_not_found":
        return f"received {shown(received)}; valid is a mapping with a key {detail['ctx']['discriminator']}"
    if kind in {"model_type", "dict_type", "model_attributes_type"}:
        return f"received {shown(received)}; valid is a mapping"
    if kind == "value_error":
        start = "" if isinstance(received, BaseModel | dict) else f"received {shown(received)}; valid: "
        return f"{start}{detail['ctx']['error']}"
    return f"received {shown(received)}; {detail['msg'][0].lower()}{detail['msg'][1:]}"


def _tags(detail: ErrorDetails) -> str:
    return str(detail["ctx"]["expected_tags"])


def _suggestion(location: Location, model: type[BaseModel]) -> str:
    valid = sorted(_fields_at(location[:-1], model))
    close = difflib.get_close_matches(str(location[-1]), valid, 1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"{hint} (valid: {', '.join(valid)})" if valid else hint


def _fields_at(location: Location, model: type[BaseModel]) -> set[str]:
    """Keys that are valid in the section at a location."""
    found = [model]
    for part in location:
        fields = [section.model_fields[part] for section in found if part in section.model_fields]
        if fields:
            found = [section for field in fields for section in _sections(field.annotation)]
        else:
            found = [section for section in found if _is_branch(section, part)] or found
    return {name for section in found for name in section.model_fields}


def _sections(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _sections(argument)


def _is_branch(section: type[BaseModel], part: int | str) -> bool:
    kinds = (section.model_fields.get(name) for name in ("kind", "mode"))
    return any(kind is not None and part in get_args(kind.annotation) for kind in kinds)
