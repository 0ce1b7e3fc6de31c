"""Parameters of another tool: each is taken over or left with a reason, and none is forgotten."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from corpus_assets.importer.draft import Draft, variable_step

Value = TypeVar("Value")
_PLACEHOLDER = re.compile(r"<[^<>|/\s][^<>|/]*>")
_MOST_SHOWN = 60


class Unknown:
    """A value that only running the tool would give. said: how it is written there. choices: texts it is, in turn."""

    def __init__(self, said: str, choices: Sequence[str] = ()) -> None:
        """Keeps how the value is written."""
        self.said = said
        self.choices = tuple(choices)

    @property
    def shown_inside(self) -> str:
        """Returns it as a part of a text: in angle brackets, unless it is such a text itself."""
        return self.said if "<" in self.said else f"<{self.said}>"


def shown(value: object) -> str:
    """Returns a value in a form for a message, shortened if it is long."""
    text = value.said if isinstance(value, Unknown) else repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def text(value: Any) -> str:
    """Returns a text; ValueError for anything else."""
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def name(value: Any) -> str:
    """Returns a text that is no placeholder, such as `<prompt_key>`."""
    if _PLACEHOLDER.fullmatch(text(value)):
        raise ValueError("the value in place of this placeholder")
    return text(value)


def whole(value: Any) -> int:
    """Returns a whole number, also one that is written as a text."""
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d[\d_]*", value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a whole number")
    return value


def number(value: Any) -> float:
    """Returns a number, also one that is written as a text."""
    if isinstance(value, str):
        try:
            return float(value.replace("_", ""))
        except ValueError:
            raise ValueError("a number") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number")
    return value


def switch(value: Any) -> bool:
    """Returns true or false, also if written as a text."""
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


@dataclass
class Given:
    """Parameters of one call of a tool."""

    draft: Draft
    values: Mapping[str, Any]
    where: str = ""
    """What keys in the report begin with."""
    named: set[str] = field(default_factory=set)
    """Parameters that are taken over or left."""

    def take(self, key: str, ours: str, kind: Callable[[Any], Value]) -> Value | None:
        """Returns the value of a parameter, and records the key of corpus.yaml that takes it over.

        Returns None if it is absent or null, or if it is not of its kind, which is recorded as the reason.
        """
        if key not in self.values:
            return None
        self.named.add(key)
        value = self.values[key]
        if value is None:
            self.leave(key, "null sets nothing")
            return None
        if isinstance(value, Unknown):
            self.leave(key, f"{value.said} is no literal; set {ours} yourself")
            return None
        try:
            found = kind(value)
        except ValueError as error:
            self.leave(key, f"received {shown(value)}; valid: {error}; set {ours} yourself")
            return None
        self.draft.take(self.where + key, ours)
        return found

    def path(self, key: str, ours: str) -> str | None:
        """Returns a path; the user is told about placeholders and variables in it."""
        found = self.take(key, ours, text)
        if found and (left := re.findall(r"<[^<>]+>|\$\{?\w+\}?", found)):
            for placeholder in (one for one in left if one not in ("$HOME", "${HOME}")):
                if variable_step(placeholder.strip("${}")) not in self.draft.to_do:
                    self.draft.remind(f"write the place in place of {placeholder} in corpus.yaml")
        return found

    def leave(self, key: str, why: str) -> None:
        """Records why a parameter that is given is not taken over."""
        if key in self.values:
            self.named.add(key)
            self.draft.leave(self.where + key, why)

    def leave_all(self, reasons: Mapping[str, str]) -> None:
        """Records every given parameter that has a reason and is not yet taken over or left."""
        for key, why in reasons.items():
            if key not in self.named:
                self.leave(key, why)

    def finish(self, why: str) -> None:
        """Records every parameter that is neither taken over nor left."""
        for key in (key for key in self.values if key not in self.named):
            self.leave(key, why)
