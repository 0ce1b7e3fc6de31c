"""`mix` of `corpus.yaml`: chunks, the units in which datasets are mixed, and how often documents are used."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Discriminator, Field, Tag, model_validator

from corpus_assets.config.naming import ATTRIBUTE
from corpus_assets.config.section import Section, Share

MOST_CHUNKS = 9_999
MOST_QUANTILES = 100
_NEAR = 1e-3
SOURCE, METADATA = "source", "metadata."
_SCORE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.[A-Za-z0-9_]+\.[A-Za-z0-9_]+")
_LABELS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.[A-Za-z0-9_]+")
_METADATA = re.compile(r"metadata(\.[^.]+)+")

Of = Annotated[
    Literal["score", "count", "share"],
    Field(
        description="the value: the mean score of the spans, weighed by their length; how many spans there are; the "
        "share of the text, in code points, that they cover"
    ),
]


def _is_metadata(by: str) -> bool:
    return by.startswith(METADATA)


def _require_score(by: str) -> None:
    """Raises `ValueError` unless a value of documents is a number."""
    if not (_METADATA if _is_metadata(by) else _SCORE).fullmatch(by):
        raise ValueError(
            f"by: received {by!r}; valid for a number: ENTRY.TAGGER.TYPE, such as quality.gopher_v2.word_count, or "
            "metadata.KEY"
        )


class MixUnit(Section):
    """Something by which documents are told apart for a mixture: their source, a label, or buckets of a score."""

    by: Annotated[str, ATTRIBUTE] = Field(
        min_length=1,
        description="`source`; `metadata.KEY`, dots lead into objects; `ENTRY.TAGGER`, whose label is the type with "
        "the greatest score; with `quantiles` or `ranges` a score: `ENTRY.TAGGER.TYPE`, or a number in `metadata.KEY`",
    )
    name: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]*$",
        description="its name in tables; by default the last part of `by`",
    )
    quantiles: int | None = Field(
        None,
        ge=2,
        le=MOST_QUANTILES,
        description="so many buckets with the same number of documents of the mix each; `q1` has the least scores",
    )
    ranges: list[float] | None = Field(
        None,
        min_length=1,
        max_length=MOST_QUANTILES,
        description="borders between buckets, which ascend; a score that is a border is in the upper one",
    )
    of: Of = "score"

    @property
    def called(self) -> str:
        """Returns its name in tables."""
        return self.name or re.sub(r"[^A-Za-z0-9_-]", "_", self.by.rpartition(".")[2])

    @model_validator(mode="after")
    def _fits(self) -> "MixUnit":
        is_score = self.quantiles is not None or self.ranges is not None
        if self.quantiles is not None and self.ranges is not None:
            raise ValueError("quantiles and ranges are two ways to make buckets; give one of them")
        if self.ranges is not None and any(low >= high for low, high in pairwise(self.ranges)):
            raise ValueError(f"ranges: received {self.ranges}; valid: numbers that ascend")
        if is_score:
            _require_score(self.by)
        elif self.by != SOURCE and not (_METADATA if _is_metadata(self.by) else _LABELS).fullmatch(self.by):
            raise ValueError(f"by: received {self.by!r}; valid: source, metadata.KEY, ENTRY.TAGGER")
        elif _SCORE.fullmatch(self.by) and not _is_metadata(self.by) and self.by.count(".") > 1:
            raise ValueError(f"by: {self.by!r} is a score; give `quantiles` or `ranges` too, or name ENTRY.TAGGER")
        if self.of != "score" and (not is_score or _is_metadata(self.by)):
            raise ValueError(f"of: without effect with by: {self.by}, which has no spans that are counted")
        return self


def _form(value: Any) -> str:
    return "many" if isinstance(value, list | dict | BaseModel) else "one"


Units = Annotated[
    Annotated[Literal["source"], Tag("one")] | Annotated[list[MixUnit], Field(min_length=1, max_length=8), Tag("many")],
    Discriminator(_form),
]


def _points(value: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    if any(one[0] >= other[0] for one, other in pairwise(value)):
        raise ValueError("[score, copies] in ascending order of the scores")
    return value


class MixCopies(Section):
    """How often each document is used, by a score: a function of straight lines between points."""

    by: Annotated[str, ATTRIBUTE] = Field(
        min_length=1, description="the score: `ENTRY.TAGGER.TYPE`, or a number in `metadata.KEY`"
    )
    of: Of = "score"
    points: Annotated[
        list[Annotated[list[float], Field(min_length=2, max_length=2)]],
        Field(min_length=1, max_length=1000),
        AfterValidator(_points),
    ] = Field(
        description="`[score, copies]` in ascending order; between two points copies change in a straight line, and "
        "outside they are those of the nearest point"
    )
    most: float = Field(100.0, ge=0, le=1000, description="the most copies of a document")
    missing: float = Field(1.0, ge=0, le=1000, description="copies of a document without the score")

    @model_validator(mode="after")
    def _fits(self) -> "MixCopies":
        _require_score(self.by)
        if self.of != "score" and _is_metadata(self.by):
            raise ValueError(f"of: without effect with by: {self.by}, which has no spans that are counted")
        if wrong := [point for point in self.points if point[1] < 0]:
            raise ValueError(f"points: received {wrong[0]}; valid: copies from 0 up")
        if not any(copies for _, copies in self.points) and not self.missing:
            raise ValueError("points: no document would be used; valid: copies above 0 somewhere")
        return self


class MixOrder(Section):
    """An order of documents by a score, over all chunks: `chunk-0000` begins."""

    by: Annotated[str, ATTRIBUTE] = Field(
        min_length=1, description="the score: `ENTRY.TAGGER.TYPE`, or a number in `metadata.KEY`"
    )
    of: Of = "score"
    descending: bool = Field(False, description="greatest scores first; documents without the score are always last")
    phases: list[Annotated[Share, Field(gt=0, lt=1)]] | None = Field(
        None,
        min_length=2,
        max_length=MOST_QUANTILES,
        description="shares of the documents, which add up to 1: phases one after another, in each of which documents "
        "lie in keyed order; by default all are sorted by their score",
    )

    @model_validator(mode="after")
    def _fits(self) -> "MixOrder":
        _require_score(self.by)
        if self.of != "score" and _is_metadata(self.by):
            raise ValueError(f"of: without effect with by: {self.by}, which has no spans that are counted")
        if self.phases is not None and abs(sum(self.phases) - 1) > _NEAR:
            raise ValueError(f"phases: received shares that add up to {sum(self.phases):.6g}; valid: 1")
        return self


class Mix(Section):
    """Scattering the kept documents over chunks, and the order inside a chunk."""

    chunks: int = Field(8, ge=1, le=MOST_CHUNKS, description="number of chunks; one chunk should fit `engine.memory`")
    seed: int = Field(0, ge=0, lt=2**63, description="another seed gives other chunks and another order")
    order: Annotated[
        Annotated[Literal["keyed", "slimpajama"], Tag("one")] | Annotated[MixOrder, Tag("many")], Discriminator(_form)
    ] = Field(
        "keyed",
        description="`keyed`: by a hash of (seed, source, id, copy); `slimpajama`: its seeded list shuffle; or by a "
        "score (docs/mixing-by-buckets.md)",
    )
    leave_out: Annotated[list[str], ATTRIBUTE] = Field(
        default=["short_documents", "duplicates"],
        description="attributes whose flagged documents are left out of the mix; may include assets of your own stages",
    )
    units: Units = Field(
        "source",
        description="what `weights` of datasets weigh: sources, or buckets of documents (docs/mixing-by-buckets.md)",
    )
    copies: MixCopies | None = Field(
        None, description="how often a document is used, by a score; times the `epochs` of its source"
    )

    @model_validator(mode="after")
    def _each_once(self) -> "Mix":
        if len(set(self.leave_out)) < len(self.leave_out):
            raise ValueError(f"leave_out: an attribute is named twice in {', '.join(self.leave_out)}")
        if isinstance(self.units, list):
            names = [unit.called for unit in self.units]
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"units: {', '.join(twice)} named twice; give one of them another `name`")
            if wrong := sorted({"weight", "tokens", "unit", "domain"} & set(names)):
                raise ValueError(f"units: {wrong[0]!r} is another column of tables of weights; give another `name`")
        return self


def unit_names(units: Any) -> list[str]:
    """Returns the names of what units are made of, given `mix.units` as plain values; none for sources."""
    return [] if isinstance(units, str) else [MixUnit.model_validate(unit).called for unit in units]
