"""`filter` of `corpus.yaml`: which documents and which parts of them stay, according to attributes."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from corpus_assets.config.naming import ATTRIBUTE, VALUES
from corpus_assets.config.section import Section
from corpus_assets.config.selection.attributes import label_key
from corpus_assets.config.selection.fineweb2.section import FineWeb2
from corpus_assets.config.selection.presets import PresetName

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.[A-Za-z0-9_]+\.[A-Za-z0-9_]+")


def _rule_key(value: str) -> str:
    if not _KEY.fullmatch(value):
        raise ValueError("ENTRY.TAGGER.TYPE, for example quality.gopher_v2.word_count")
    return value


RuleKey = Annotated[str, AfterValidator(_rule_key)]


def _threshold_key(value: str) -> str:
    if value != "score" and not _KEY.fullmatch(value):
        raise ValueError("score, or ENTRY.TAGGER.TYPE, for example quality.gopher_v2.word_count")
    return value


ThresholdKey = Annotated[str, AfterValidator(_threshold_key)]
OptionalField = Literal["added", "created", "metadata"]


class Range(Section):
    """A range for the values of one type of a tagger; documents outside it are dropped."""

    min: float | None = Field(None, description="the least value")
    max: float | None = Field(None, description="the greatest value")
    of: Literal["score", "count", "share"] = Field(
        "score",
        description="the value: the score of every span; how many spans there are; the share of the text, in code "
        "points, that they cover",
    )
    absent: Literal["keep", "drop"] | None = Field(
        None,
        description="with `of: score`: keep or drop documents without a span of this type; by default they count "
        "as below any `min`",
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


class SpanReplacement(Section):
    """A rule that replaces pieces of texts."""

    span: Annotated[str, ATTRIBUTE] = Field(
        min_length=1,
        description="the spans: `ENTRY.TAGGER.TYPE`, or an expression for a list of them, such as "
        "`$.attributes.quality__c4_v2__lines_with_too_few_words`",
    )
    syntax: Literal["attribute", "jsonpath", "jq"] = Field(
        "attribute", description="the language of `span`; by default `jsonpath` if it starts with `$`"
    )
    min_score: float | None = Field(None, description="only spans with at least this score")
    max_score: float | None = Field(None, description="only spans with a lower score than this")
    replacement: Annotated[str, VALUES] = Field(
        "",
        description="the replacement; `{}` stands for the original text; `$` and a jq expression compute it from "
        "the document; `$$` is a dollar sign",
    )

    @model_validator(mode="before")
    @classmethod
    def _jsonpath_by_its_root(cls, values: Any) -> Any:
        if isinstance(values, dict) and "syntax" not in values and str(values.get("span")).startswith("$"):
            return {**values, "syntax": "jsonpath"}
        return values

    @model_validator(mode="after")
    def _fits(self) -> "SpanReplacement":
        if self.syntax == "attribute" and not _KEY.fullmatch(self.span):
            raise ValueError(
                f"span: received {self.span!r}; valid: ENTRY.TAGGER.TYPE, for example "
                "quality.c4_v2.lines_with_too_few_words, JSONPath, or an expression with `syntax: jq`"
            )
        if self.min_score is not None and self.max_score is not None and self.min_score >= self.max_score:
            raise ValueError(f"min_score {self.min_score:g} is not under max_score {self.max_score:g}")
        return self


class RowRules(Section):
    """The rules that `filter` and the entries of `streams` can have."""

    rules: Annotated[dict[RuleKey, Range], ATTRIBUTE] = Field(
        default={}, description="ranges, each for one type of a tagger of an entry of `attributes`: `ENTRY.TAGGER.TYPE`"
    )
    include: Annotated[list[str], VALUES] = Field(
        default=[], description="expressions; a document stays only if one of them matches (none: all stay)"
    )
    exclude: Annotated[list[str], VALUES] = Field(
        default=[], description="expressions; a document that one of them matches is dropped"
    )
    syntax: Literal["jsonpath", "jq"] = Field("jsonpath", description="the language of `include` and `exclude`")
    attributes: Annotated[list[str] | None, ATTRIBUTE] = Field(
        None,
        description="entries of `attributes` that expressions can read; by default those whose keys they name",
    )
    span_replacement: list[SpanReplacement] = Field(default=[], description="pieces of texts that are replaced")
    min_text_length: int | None = Field(
        None, ge=0, description="fewest code points of a text, without whitespace at both ends"
    )
    compat: Literal["dolma"] | None = Field(
        None,
        description="as in Dolma 1.2.1: overlapping spans are not united, `min_text_length` counts UTF-8 bytes, "
        "and for JSONPath 1 is not 1.0",
    )


class Languages(Section):
    """Ranges that differ by the language of a document, or by any other label that a tagger gives it."""

    by: Annotated[str, AfterValidator(label_key), ATTRIBUTE] = Field(
        description="`ENTRY.TAGGER`, for example `lang.language`: the type that it gives a document is its label"
    )
    thresholds: Annotated[dict[str, dict[ThresholdKey, Range]], ATTRIBUTE] = Field(
        min_length=1,
        description="ranges by label and key, such as `tha_Thai: {score: {min: 0.9}}`: `score` is that of the label; "
        "other keys are those of `rules`",
    )
    other: Literal["drop", "keep"] = Field(
        "drop", description="what becomes of documents with a label that has no thresholds, or with none"
    )


_RULES = (
    "presets",
    "languages",
    "rules",
    "include",
    "exclude",
    "span_replacement",
    "discard_fields",
    "min_text_length",
)


class Filter(RowRules):
    """Which documents stay, and which parts of them (docs/filter.md). Rules are applied in the order of this table."""

    presets: list[PresetName] = Field(
        default=[],
        description="rules of published corpora, each with its taggers, in this order (docs/presets.md); a range in "
        "`rules` with the same key stands in place of theirs",
    )
    fineweb2: FineWeb2 | None = Field(None, description="the languages of the preset `fineweb2` (docs/presets.md)")
    languages: Languages | None = Field(None, description="ranges that differ by language (docs/languages.md)")
    discard_fields: list[OptionalField] = Field(default=[], description="optional fields of documents to remove")

    @model_serializer(mode="wrap")
    def _without_a_preset_that_is_not_given(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Returns its values, without `fineweb2` if it is not given, so that records stay as they are."""
        values: dict[str, Any] = dump(self)
        return {key: value for key, value in values.items() if key != "fineweb2" or value is not None}

    @model_validator(mode="after")
    def _does_something(self) -> "Filter":
        if not any(getattr(self, name) for name in _RULES):
            raise ValueError(f"nothing is given; leave `filter` out, or give one of {', '.join(_RULES)}")
        if self.attributes is not None and not (self.include or self.exclude or self.span_replacement):
            raise ValueError("attributes: without effect, since there are no expressions")
        if self.fineweb2 is not None and "fineweb2" not in self.presets:
            raise ValueError("fineweb2: without effect, since `presets` does not name fineweb2")
        for what, names in (("discard_fields: a field", self.discard_fields), ("presets: one", self.presets)):
            if len(set(names)) < len(names):
                raise ValueError(f"{what} is named twice in {', '.join(names)}")
        return self
