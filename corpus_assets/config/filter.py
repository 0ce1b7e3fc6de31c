"""`filter` of `corpus.yaml`: which documents stay, and what of them, by what the attributes say."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from corpus_assets.config.section import Section

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.[A-Za-z0-9_]+\.[A-Za-z0-9_]+")


def _rule_key(value: str) -> str:
    if not _KEY.fullmatch(value):
        raise ValueError("ENTRY.TAGGER.TYPE, for example quality.gopher_v2.word_count")
    return value


RuleKey = Annotated[str, AfterValidator(_rule_key)]
OptionalField = Literal["added", "created", "metadata"]


class Range(Section):
    """A range for what a tagger gives of one type; a document outside it is dropped."""

    min: float | None = Field(None, description="the least value")
    max: float | None = Field(None, description="the greatest value")
    of: Literal["score", "count", "share"] = Field(
        "score",
        description="the value: the score of every span; how many spans there are; the share of the text, in code "
        "points, that they cover",
    )
    absent: Literal["keep", "drop"] | None = Field(
        None,
        description="with `of: score`, what becomes of a document without a span of this type; by default it has less "
        "than any `min`",
    )

    @model_validator(mode="after")
    def _says_something(self) -> "Range":
        if self.min is None and self.max is None:
            raise ValueError("give min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min:g} is over max {self.max:g}")
        if self.absent is not None and self.of != "score":
            raise ValueError(f"absent: without effect with of: {self.of}, which is 0 without a span")
        return self


class Filter(Section):
    """Which documents stay, and what of them (docs/filter.md). Rules are asked in the order of this table."""

    rules: dict[RuleKey, Range] = Field(
        default={}, description="ranges, each for one type of a tagger of an entry of `attributes`: `ENTRY.TAGGER.TYPE`"
    )
    discard_fields: list[OptionalField] = Field(
        default=[], description="optional fields of documents that are left out: `added`, `created`, `metadata`"
    )
    min_text_length: int | None = Field(
        None, ge=1, description="code points that a text has at least, without whitespace at both ends"
    )

    @model_validator(mode="after")
    def _does_something(self) -> "Filter":
        if self == Filter.model_construct():
            raise ValueError("nothing is given; leave `filter` out, or give one of its keys")
        if len(set(self.discard_fields)) < len(self.discard_fields):
            raise ValueError(f"discard_fields: a field is named twice in {', '.join(self.discard_fields)}")
        return self
