"""The tokenizer that a person names: a file, a folder, or a name on the hub."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from resources.errors import ConfigError, require_of_the_file
from resources.outside.looking import is_file, is_folder

_VALID: Final = (
    "a tokenizer.json, a folder with one, a SentencePiece .model, or a name on the hub such as openai-community/gpt2"
)
_IN_A_FOLDER: Final = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json")


@dataclass(frozen=True)
class Chosen:
    """A tokenizer. section: `tokenizer` of corpus.yaml. has_template: a chat template lies beside it."""

    section: Mapping[str, Any]
    has_template: bool = False


def tokenizer_named(given: str) -> Chosen:
    """Returns the tokenizer that is named; `ConfigError` if it is none. One on the hub is not looked up."""
    path = Path(given).expanduser()
    if is_folder(path):
        if not any(is_file(path / name) for name in _IN_A_FOLDER):
            raise ConfigError(f"--tokenizer: {given!r} holds none of {', '.join(_IN_A_FOLDER)}; valid: {_VALID}")
        return Chosen({"kind": "huggingface", "path": str(path)}, _has_template(path))
    if is_file(path):
        kind = {".json": "tokenizer_json", ".model": "sentencepiece"}.get(path.suffix.lower())
        if kind is None:
            raise ConfigError(f"--tokenizer: {given!r} is a file of another kind; valid: {_VALID}")
        return Chosen({"kind": kind, "path": str(path)}, _has_template(path.parent))
    if re.fullmatch(r"[\w.-]+/[\w.-]+", given) and not given.startswith("."):
        return Chosen({"kind": "hub", "name": given}, has_template=False)
    raise ConfigError(f"--tokenizer: {given!r} is not there; valid: {_VALID}")


def _has_template(folder: Path) -> bool:
    if is_file(folder / "chat_template.jinja"):
        return True
    try:
        found = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    except ValueError:
        return False
    except OSError as error:
        require_of_the_file(f"--tokenizer: {str(folder)!r}", error)
        return False
    return isinstance(found, dict) and bool(found.get("chat_template"))
