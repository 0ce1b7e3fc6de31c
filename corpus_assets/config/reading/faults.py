"""Turns the faults of a configuration into sentences: the path of the key, what was received, and what is valid."""

import difflib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from resources.outside.hidden import HIDDEN, is_secret_name, may_hold_credentials

Location = Sequence[int | str]


def faults(
    error: ValidationError, model: type[BaseModel], values: Any, where: Callable[[str], str] = lambda _: ""
) -> Iterator[str]:
    """Yields one line per fault that `model` found in `values`. where: which file and line gives a key, in words."""
    for detail in error.errors():
        of_section = detail["type"] == "value_error" and isinstance(detail["input"], BaseModel | dict)
        of_union = detail["type"] in {"union_tag_invalid", "union_tag_not_found"}
        path = key_path(detail["loc"], values, absent=not of_section and not of_union)
        is_hook = path.startswith("notices") and "://" in repr(detail["input"])
        fault = _fault(detail, model, hidden=is_hook or is_secret_name(path))
        yield f"{path}: {fault}{in_brackets(where(path))}" if path else fault


def in_brackets(words: str) -> str:
    """Returns words as the end of a sentence; empty for none."""
    return f" ({words})" if words else ""


def key_path(location: Location, values: Any, *, absent: bool) -> str:
    """Returns the part of Pydantic's location that consists of keys in the file, without branches of unions.

    absent: the last entry may be a key that the file does not have.
    """
    keys = []
    for place, entry in enumerate(location):
        if isinstance(values, dict) and (entry in values or (absent and place == len(location) - 1)):
            values = values.get(entry)
        elif isinstance(values, list) and isinstance(entry, int) and entry < len(values):
            values = values[entry]
        else:
            continue
        keys.append(str(entry))
    return ".".join(keys)


def shown(value: Any, *, hidden: bool = False) -> str:
    """Returns a value and its type as text, cut to a readable length; hides what may hold credentials.

    hidden: the value is that of a key that may hold some.
    """
    text = repr(value)
    if hidden or may_hold_credentials(text):
        return f"{HIDDEN} ({type(value).__name__})"
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def kind_of(values: Any) -> str:
    """Returns what a file holds without showing it: a file of keys, such as `.env`, is one text for YAML."""
    return {str: "a text", list: "a list", type(None): "nothing"}.get(
        type(values), f"a value ({type(values).__name__})"
    )


def _fault(detail: ErrorDetails, model: type[BaseModel], *, hidden: bool) -> str:
    kind, received = detail["type"], shown(detail["input"], hidden=hidden)
    if kind == "extra_forbidden":
        return f"unknown key{_suggestion(detail['loc'], model)}"
    if kind == "missing":
        return "missing, but required"
    if kind == "literal_error":
        return f"received {received}; valid: {detail['ctx']['expected']}"
    if kind == "union_tag_invalid":
        return f"received {detail['ctx']['tag']!r} as {detail['ctx']['discriminator']}; valid: {_tags(detail)}"
    if kind == "union_tag_not_found":
        name = detail["ctx"]["discriminator"]
        return f"received {received}; valid is a mapping with a key {name}: {_kinds(name, detail['loc'], model)}"
    if kind in {"model_type", "dict_type", "model_attributes_type"}:
        return f"received {received}; valid is a mapping"
    if kind == "value_error":
        start = "" if isinstance(detail["input"], BaseModel | dict) else f"received {received}; valid: "
        return start + str(detail["ctx"]["error"]).removeprefix("valid: " if start else "")
    return f"received {received}; {detail['msg'][0].lower()}{detail['msg'][1:]}"


def _tags(detail: ErrorDetails) -> str:
    return str(detail["ctx"]["expected_tags"])


def _kinds(quoted: str, location: Location, model: type[BaseModel]) -> str:
    """Returns the values that the key which tells the sections at a location apart may have."""
    fields = (section.model_fields.get(quoted.strip("'")) for section in _sections_at(location, model))
    return ", ".join(repr(kind) for field in fields if field is not None for kind in get_args(field.annotation))


def _suggestion(location: Location, model: type[BaseModel]) -> str:
    valid = sorted(_fields_at(location[:-1], model))
    close = difflib.get_close_matches(str(location[-1]), valid, 1)
    hint = _elsewhere(location, valid, model) or (f"; did you mean {close[0]!r}?" if close else "")
    return f"{hint} (valid: {', '.join(valid)})" if valid else hint


def _elsewhere(location: Location, valid: Sequence[str], model: type[BaseModel]) -> str:
    """Returns where a key belongs that stands one section too deep or too high; empty if there is no such section."""
    key = str(location[-1])
    for place in range(len(location) - 2, -1, -1):  # Branches of unions stand between the keys.
        beside = _fields_at(location[:place], model)
        if location[place] in beside:
            if key in beside:
                return f"; it stands beside {location[place]!r}, not in it"
            break
    within = [name for name in valid if key in _fields_at((*location[:-1], name), model) - set(valid)]
    return f"; it stands in {within[0]!r}" if len(within) == 1 else ""


def _fields_at(location: Location, model: type[BaseModel]) -> set[str]:
    """Returns the keys that are valid in the section at a location."""
    return {name for section in _sections_at(location, model) for name in section.model_fields}


def _sections_at(location: Location, model: type[BaseModel]) -> list[type[BaseModel]]:
    """Returns the sections that may stand at a location, in the order of the schema."""
    found = [model]
    for entry in location:
        fields = [section.model_fields[entry] for section in found if entry in section.model_fields]
        if fields:
            found = [section for field in fields for section in _sections(field.annotation)]
        else:
            found = [section for section in found if _is_branch(section, entry)] or found
    return found


def _sections(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _sections(argument)


def _is_branch(section: type[BaseModel], entry: int | str) -> bool:
    kinds = (section.model_fields.get(name) for name in ("kind", "mode", "format"))
    return section.__name__ == entry or any(kind is not None and entry in get_args(kind.annotation) for kind in kinds)
