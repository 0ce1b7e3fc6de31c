"""A section with rules, `filter` or an entry of `streams`, as the modules of this folder read it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from corpus_assets.filter.rules.entries import Entries
from resources.stage.declaration import Values


@dataclass(frozen=True)
class RuleSection:
    """The plain values of a section, the attributes that its rules may name, and its place for messages and recipes."""

    values: Mapping[str, Any]
    entries: Entries
    where: str = "filter"

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def parameters(self, *keys: str) -> Callable[[Values], Values]:
        """Returns what gives values of the section as parameters of a stage."""
        return partial(_held, held={f"{self.where}.{key}": self.values[key] for key in keys})


def _held(_: Values, held: Values) -> Values:
    return held
