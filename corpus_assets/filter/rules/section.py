"""A section with rules: `filter` or an entry of `streams`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from corpus_assets.filter.rules.entries import Entries
from resources.stage.hooks import Hooks, Values


@dataclass(frozen=True)
class RuleSection:
    """The plain values of a section, the attributes that its rules may name, and its place for messages and recipes."""

    values: Mapping[str, Any]
    entries: Entries
    where: str = "filter"

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def parameters(self, *keys: str) -> Values:
        """Returns values of the section as parameters of a stage."""
        return {f"{self.where}.{key}": self.values[key] for key in keys}


@dataclass(frozen=True)
class SectionHooks(Hooks):
    """Hooks of rules whose result depends on some values of a section."""

    section: RuleSection
    keys: tuple[str, ...]

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return self.section.parameters(*self.keys)
