"""Tokenizers of Cerebras' preprocessing as the section `tokenizer`."""

from pathlib import Path
from typing import Any

from corpus_assets.importer.cerebras.settings import Settings
from corpus_assets.importer.given import name, whole
from corpus_assets.importer.places import located, tokenizer_of

_KINDS = {"gpt2tokenizer": "gpt2", "neoxtokenizer": "neox", "huggingfacetokenizer": "huggingface"}
_FILES = {"gpt2": {"vocab_file": "merges", "encoder_file": "encoder"}, "neox": {"encoder_file": "path"}}


def tokenizer_section(given: Settings, folder: Path) -> dict[str, Any]:
    """Returns the tokenizer of a run; if it is not one that can be read here, the user is told to name one."""
    kind = None
    for key in ("tokenizer_type", "custom_tokenizer"):
        if (said := _take(given, key, "tokenizer.kind")) and (kind := _KINDS.get(said.lower())) is None:
            given.draft.taken.pop(given.where + given.keys[key])
            given.leave(given.keys[key], f"{said!r} is code of its own; valid: {', '.join(_KINDS)}")
    section: dict[str, Any] | None
    if kind in _FILES:
        section = {"kind": kind}
        for key, ours in _FILES[kind].items():
            if key in given.keys and (path := given.path(given.keys[key], f"tokenizer.{ours}")):
                section[ours] = located(path, folder)
            else:
                section[ours] = f"tokenizer/{key}"
                given.draft.remind(f"name the {key} of {kind} in tokenizer.{ours}")
    else:
        key = given.keys.get("huggingface_tokenizer", "huggingface_tokenizer")
        if isinstance(given.values.get(key), str) and given.take(key, "tokenizer.name", name) is None:
            section = None
        else:
            given.draft.taken.pop(given.where + key, None)
            section = tokenizer_of(given, key, folder)
    if section is None:
        given.draft.remind("name the folder of a tokenizer in tokenizer.path, or a kind that needs none")
        section = {"kind": "huggingface", "path": "tokenizer"}
    _take_ids(given, section)
    # Control tokens in a text become their ids there, except with GPT-2.
    return section if kind == "gpt2" else {**section, "special_tokens_in_text": True}


def _take(given: Settings, key: str, ours: str) -> str | None:
    return given.take(given.keys[key], ours, name) if key in given.keys else None


def _take_ids(given: Settings, section: dict[str, Any]) -> None:
    for key, ours in (("eos_id", "eos"), ("pad_id", "pad")):
        if key not in given.keys:
            continue
        if (section["kind"], ours) == ("gpt2", "pad"):
            given.leave(given.keys[key], "GPT-2's padding is always its end-of-text token")
        elif (value := given.take(given.keys[key], f"tokenizer.{ours}", whole)) is not None:
            section[ours] = value
