"""Values that the toolkit fills in when it runs, `${...}`: paths keep variables of the environment, others are left."""

import re
from collections.abc import Mapping
from typing import Any, Final

from corpus_assets.importer.draft import Draft, variable_step

_ANY: Final = re.compile(r"\$\{(?:[^{}]|\$\{[^{}]*\})*\}")
_VARIABLE: Final = re.compile(r"\$\{oc\.env:\s*([A-Za-z_]\w*)\s*\}")
_PATHS: Final = re.compile(
    r"(streams\.\d+\.)?documents(\.\d+)?|streams\.\d+\.output\.path|destination|(tokenizer\.|tokenizer_)name_or_path"
)
"""Keys whose values are paths, in which corpus.yaml has variables of the environment too."""
_STEP: Final = re.compile(re.escape(variable_step("NAME")).replace("NAME", r"(\w+)"))


def filled_in(draft: Draft, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of a configuration without those that only the toolkit can fill in, which are named."""
    return {key: value for key, value in _filled(draft, values, "").items() if value is not None}


def forget_unused(draft: Draft) -> None:
    """Removes the steps for variables that the finished corpus.yaml does not have, such as of what a mix writes."""
    written = str(draft.values)
    draft.to_do[:] = [one for one in draft.to_do if not (step := _STEP.fullmatch(one)) or f"${{{step[1]}}}" in written]


def _filled(draft: Draft, value: Any, key: str) -> Any:
    """Returns a value, with None in place of a text that cannot be taken over, and lists without such texts."""
    dot = f"{key}." if key else ""
    if isinstance(value, Mapping):
        inside = {name: _filled(draft, below, f"{dot}{name}") for name, below in value.items()}
        return {name: filled for name, filled in inside.items() if filled is not None or value[name] is None}
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
        draft.remind(variable_step(name))
    return _VARIABLE.sub(r"${\1}", value)
