"""Places and tokenizers of other tools, as corpus.yaml writes them."""

import os
import re
from pathlib import Path
from typing import Any

from corpus_assets.importer.given import Given, text
from resources.raw_places.addresses import check_location

ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
READ_ADDRESSES = ("s3://", "hf://datasets/", "https://")
"""Beginnings of addresses that sources can have."""


def located(path: str, folder: Path) -> str:
    """Returns a path relative to the folder of corpus.yaml; addresses, absolute paths and placeholders unchanged."""
    if ADDRESS.match(path.lstrip("<")) or path.startswith(("~", "$", "<")) or Path(path).is_absolute():
        return path
    return os.path.relpath(Path(path).absolute(), folder.absolute())


def unreadable(path: str) -> str:
    """Returns what a place would have to be, if it is an address that no source can have; empty otherwise."""
    if not ADDRESS.match(path):
        return ""
    if not path.startswith(READ_ADDRESSES):
        return f"valid: a folder, {', '.join(READ_ADDRESSES)}"
    try:
        check_location(path)
    except ValueError as error:
        return str(error)
    return ""


def tokenizer_of(given: Given, key: str, folder: Path) -> dict[str, Any] | None:
    """Returns the section for a parameter that is a name on the hub or a path, as `from_pretrained` takes both."""
    value = given.values.get(key)
    ours = "tokenizer.path" if isinstance(value, str) and _is_local(value) else "tokenizer.name"
    name = given.take(key, ours, text) if ours == "tokenizer.name" else given.path(key, ours)
    if name is None:
        return None
    if ours == "tokenizer.name":
        return {"kind": "hub", "name": "openai-community/gpt2" if name == "gpt2" else name}
    kinds = {".json": "tokenizer_json", ".model": "sentencepiece"}
    return {"kind": kinds.get(Path(name).suffix, "huggingface"), "path": located(name, folder)}


def _is_local(name: str) -> bool:
    """Returns whether a name is that of a folder or file; a name on the hub has one slash at most, and no suffix."""
    return (
        name.startswith((".", "/", "~", "$", "<"))
        or name.count("/") > 1
        or name.endswith((".json", ".model"))
        or Path(name).exists()
    )
