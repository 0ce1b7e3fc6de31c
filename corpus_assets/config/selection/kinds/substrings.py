"""Entries of `dedupers` with `kind: substrings`: exact repeated substrings to mark."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from corpus_assets.config.naming import FILE, SOURCE
from corpus_assets.config.section import Name, Section, Share
from corpus_assets.config.sections import Globs
from corpus_assets.config.selection.attributes import entry_name, key_prefix

_LEAST = {"bytes": 16, "tokens": 4}
_MOST = 1_000_000


def _length(value: str) -> str:
    match = re.fullmatch(r"\s*([0-9][0-9_,]*)\s*(bytes|tokens)\s*", value)
    if match is None:
        raise ValueError("a number with its unit, such as 500 bytes or 50 tokens")
    number, unit = int(re.sub("[_,]", "", match[1])), match[2]
    if not _LEAST[unit] <= number <= _MOST:
        raise ValueError(f"{_LEAST[unit]} to {_MOST:,} {unit}")
    return f"{number} {unit}"


class Substrings(Section):
    """Exact repeated substrings (docs/substrings.md).

    Assets `<name>_passages`, `<name>_repeated_passages`, `<name>_windows`, `<name>_repeated_windows` and
    `<name>_attributes`.
    """

    kind: Literal["substrings"]
    name: Annotated[Name, AfterValidator(entry_name)] = Field(
        "substrings", description="short name; folder of the attribute files, and first part of the attribute keys"
    )
    min_length: Annotated[str, AfterValidator(_length)] = Field(
        "500 bytes",
        description="length from which a repeated substring is marked: bytes of UTF-8, or tokens, which are words and "
        "punctuation marks by Unicode's rules, each with the whitespace before it",
    )
    keep: Literal["first", "none"] = Field(
        "first", description="mark every copy but the `first` in corpus order, or every copy (`none` stays)"
    )
    boilerplate: int | None = Field(
        None,
        ge=1,
        le=(1 << 29) - 1,
        description="a substring in more than so many documents is boilerplate: every copy of it is marked under a "
        "second key, and the most frequent ones are listed; by default none is looked for",
    )
    borders: Literal["any", "words"] = Field(
        "any", description="where spans begin and end: at any code point, or shrunk so that they cut no word"
    )
    flag_share: Share = Field(
        1.0,
        gt=0,
        le=1,
        description="the document is flagged for `mix.leave_out` if its spans hold at least this share of its code "
        "points",
    )
    sources: Annotated[Annotated[list[Name], Field(min_length=1)] | None, SOURCE] = Field(
        None, description="compare and mark only documents of these sources; by default all"
    )
    glob: Annotated[Globs | None, FILE] = Field(
        None, description="only documents of these files, by paths as in `glob` of a source; by default all"
    )

    @property
    def length(self) -> int:
        """Returns the units of the shortest repeated substring."""
        return int(self.min_length.partition(" ")[0])

    @property
    def unit(self) -> str:
        """Returns what is counted: `bytes` or `tokens`."""
        return self.min_length.partition(" ")[2]

    @property
    def prefix(self) -> str:
        """Returns the first part of its attribute keys."""
        return key_prefix(self.name)

    @property
    def key(self) -> str:
        """Returns the key of the attribute."""
        return f"{self.prefix}__substrings__duplicate"

    @property
    def types(self) -> tuple[str, ...]:
        """Returns the last parts of its attribute keys."""
        return ("duplicate",) if self.boilerplate is None else ("duplicate", "boilerplate")

    @property
    def boilerplate_key(self) -> str:
        """Returns the key under which boilerplate is marked."""
        return f"{self.prefix}__substrings__boilerplate"

    @model_validator(mode="after")
    def _goes_together(self) -> "Substrings":
        if self.sources and len(set(self.sources)) < len(self.sources):
            raise ValueError(f"sources: a source is named twice in {', '.join(self.sources)}")
        if self.unit == "tokens" and "borders" in self.model_fields_set:
            raise ValueError("borders goes with a min_length in bytes; tokens are whole words")
        return self
