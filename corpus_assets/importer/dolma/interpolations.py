"""Values that the toolkit fills in when it runs, `${...}`: paths keep variables of the environment, others are left."""

import re
from collections.abc import Mapping
from typing import Any, Final

from corpus_assets.importer.draft import Draft

_ANY: Final = re.compile(r"\$\{[^}]*\}")
_VARIABLE: Final = re.compile(r"\$\{oc\.env:\s*([A-Za-z_]\w*)\s*\}")
_PATHS: Final = re.compile(r"(streams\.\d+\.)?documents(\.\d+)?|(tokenizer\.|tokenizer_)name_or_path")
"""Keys whose values are paths, in which corpus.yaml has variables of the environment too."""


def filled_in(draft: Draft, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of a configuration without those that only the toolkit can fill in, which are named."""
    return {key: value for key, value in _filled(draft, values, "").items() if value is not None}


def _filled(draft: Draft, value: Any, key: str) -> Any:
    """Returns a value, with None in place of a text that cannot be taken over, and lists without such texts."""
    dot = f"{key}." if key else ""
    if isinstance(value, Mapping):
        return {name: _filled(draft, below, f"{dot}{name}") for name, below in value.items()}
    if isinstance(value, list):
        found = [(one, _filled(draft, one, f"{dot}{place}")) for place, one in enumerate(value)]
        return [filled for one, filled in found if one is None or filled is not None]
    return _text(draft, value, key) if isinstance(value, str) else value


def _text(draft: Draft, value: str, key: str) -> str | None:
    is_path = _PATHS.fullmatch(key) is not None
    for found in _ANY.finditer(value):
        if not (is_path and _VARIABLE.fullmatch(found[0])):
            draft.leave(key, f"only the toolkit can resolve {found[0]!r}; write its value instead")
            return None
    for name in _VARIABLE.findall(value):
        draft.remind(f"set the environment variable {name} wherever the corpus is built, or write its value")
    return _VARIABLE.sub(r"${\1}", value)
