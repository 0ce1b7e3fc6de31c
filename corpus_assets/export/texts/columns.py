"""The columns of a dataset of texts: their names and types, which are the same in every file."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from corpus_assets.config.datasets.text_exports import KTO, TextExport
from corpus_assets.export.texts.messages import CALLS, TOOLS

Type = Any
"""`string`, `bool`, an object as a mapping of its keys to types, or a list as a list of one type."""

_CALL: Type = {"id": "string", "type": "string", "function": {"name": "string", "arguments": "string"}}
_TEXTS = {
    "text": ("text",),
    "prompt_completion": ("prompt", "completion"),
    "instruction": ("instruction", "input", "output"),
    "preference": ("prompt", "chosen", "rejected"),
    "kto": ("prompt", "completion"),
}
_MESSAGES = {
    "messages": ("messages",),
    "prompt_completion_messages": ("prompt", "completion"),
    "preference_messages": ("prompt", "chosen", "rejected"),
    "kto_messages": ("prompt", "completion"),
}


def columns(section: TextExport) -> dict[str, Type]:
    """Returns the columns of a dataset in their order, as tables have them."""
    named = dict.fromkeys(("id", "source", *_TEXTS.get(section.rows, ())), "string")
    own: dict[str, Type] = {}
    if lists := _MESSAGES.get(section.rows):
        own = {**{key: [_message(section.message_keys)] for key in lists}, TOOLS: "string"}
    if section.rows in KTO:
        own["label"] = "bool"
    return {**named, **own, **dict.fromkeys(section.metadata, "string")}


def _message(keys: Sequence[str]) -> Type:
    others = {key: [_CALL] if key == CALLS else "string" for key in keys}
    return {"role": "string", "content": "string", **others}


def is_flat(section: TextExport) -> bool:
    """Returns whether every column has one type in JSON lines too: there is no message in it."""
    return section.rows not in _MESSAGES


def arrow_schema(section: TextExport) -> Any:
    """Returns the columns as a schema of Arrow."""
    return pa.schema({name: _arrow(type_) for name, type_ in columns(section).items()})


def _arrow(type_: Type) -> Any:
    if isinstance(type_, Mapping):
        return pa.struct({name: _arrow(inner) for name, inner in type_.items()})
    if isinstance(type_, list):
        return pa.list_(_arrow(type_[0]))
    return {"string": pa.string(), "bool": pa.bool_()}[type_]
