"""What the pipelines of a script come to, before it is a corpus.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corpus_assets.importer.datatrove.names import LEFT_PARAMETERS, ORDER
from corpus_assets.importer.datatrove.values import Block
from corpus_assets.importer.draft import Draft
from corpus_assets.importer.given import Given
from corpus_assets.importer.taggers import add_taggers

NO_PARAMETER = "no parameter of this block that is known here"


@dataclass
class Trove:
    """What the blocks say."""

    draft: Draft
    folder: Path
    """That of the new corpus.yaml."""
    label: str = ""
    """What keys in the report begin with."""
    filter: dict[str, Any] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    """Folders that earlier pipelines wrote."""
    leave_out: list[str] = field(default_factory=list)
    """Attributes whose documents are left out of the mix."""
    fineweb2: str | None = None
    """The language of a script that filters as FineWeb-2 does."""
    writer: dict[str, Any] | None = None
    """The last writer of texts, as a dataset."""

    def given(self, block: Block) -> Given:
        """Returns the parameters of a block by name."""
        names = ORDER.get(block.name, ())
        values = {
            (names[key] if key < len(names) else f"argument {key + 1}") if isinstance(key, int) else key: value
            for key, value in block.values.items()
        }
        return Given(self.draft, values, f"{self.label}line {block.line}: {block.name} ")

    def finish(self, given: Given) -> None:
        """Names what is left of the parameters of a block."""
        given.leave_all(LEFT_PARAMETERS)
        given.finish(NO_PARAMETER)

    def rule(self, key: str, limits: Mapping[str, float]) -> None:
        """Adds a range; of two for one type, the narrower one."""
        known = self.filter.setdefault("rules", {}).setdefault(key, {})
        for limit, value in limits.items():
            pick = max if limit == "min" else min
            known[limit] = pick(value, known[limit]) if limit in known else value

    def exclude(self, expression: str) -> None:
        """Adds an expression in jq that drops what it matches."""
        self.filter["syntax"] = "jq"
        known = self.filter.setdefault("exclude", [])
        if expression not in known:
            known.append(expression)

    def replace(self, span: str, replacement: str, **more: str) -> None:
        """Adds a replacement of spans. more: further keys, such as `syntax`."""
        known = self.filter.setdefault("span_replacement", [])
        if all(one["span"] != span for one in known):
            known.append({"span": span, **more, "replacement": replacement})

    def tag(self, entry: str, *taggers: str) -> None:
        """Adds taggers to an entry of `attributes`."""
        add_taggers(self.draft, entry, taggers)
