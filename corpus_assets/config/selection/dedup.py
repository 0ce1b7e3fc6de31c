"""The sections of `corpus.yaml` about near-duplicates."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from corpus_assets.config.naming import SOURCE, VALUES
from corpus_assets.config.section import Name, Section, Share
from corpus_assets.config.selection.band_layout import band_layout

Rule = Literal["source", "longest", "newest", "first"]
"""A rule that chooses the document of a cluster that is kept."""

MAX_BANDS = 1000
MAX_PERMUTATIONS = 4096
MAX_RANGES = 1000
DEFAULT_RANGES = 16
DEFAULT_WORDS = 5
UNCHECKED_RESEMBLANCE = 0.5


def _first() -> list[Rule]:
    return ["first"]


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class MinHash(Section):
    """MinHash signatures and their bands. `shingle: {unit, width}` is another way to write `unit` and `width`."""

    family: Literal["affine32", "legacy", "oph"] = Field(
        "oph",
        description="`affine32` and `legacy` (before 2.0) are datasketch's, value for value; "
        "`oph` is one-permutation hashing, more than twice as fast",
    )
    permutations: int = Field(128, ge=1, le=MAX_PERMUTATIONS, description="values per signature")
    seed: int = Field(1, ge=0, lt=2**32, description="another seed gives other signatures")
    unit: Literal["char", "word"] = Field("char", description="the units of a shingle")
    width: int = Field(
        13, ge=1, le=1000, description="units per shingle of the cleaned text; by default 13 characters or 5 words"
    )
    sketch: int = Field(
        1024,
        ge=64,
        le=32768,
        multiple_of=64,
        description="bits of the sketch, which is stored with the signature and used to check candidates",
    )
    threshold: Share | None = Field(
        None,
        gt=0,
        lt=1,
        description="derive `bands` and `rows` from this Jaccard similarity and `permutations`, as datasketch does",
    )
    bands: int = Field(20, ge=1, le=MAX_BANDS, description="bands; documents that agree in one are candidates")
    rows: int = Field(6, ge=1, description="signature values per band")

    @model_validator(mode="before")
    @classmethod
    def _spelled_out(cls, values: Any) -> Any:
        return spelled_out(values) if isinstance(values, dict) else values

    @model_validator(mode="after")
    def _fits(self) -> "MinHash":
        if self.bands * self.rows > self.permutations:
            used = f"{self.bands} x {self.rows} = {self.bands * self.rows}"
            raise ValueError(f"bands x rows = {used} values, but a signature has {self.permutations}")
        return self


def spelled_out(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the section with `unit`, `width`, `bands` and `rows` instead of `shingle` and `threshold`.

    `ValueError` if a value is given in two ways.
    """
    return _with_layout(_with_shingle(values))


def _with_shingle(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the section with `shingle: {unit, width}` as `unit` and `width`; words have their own default width."""
    values = dict(values)
    shingle = values.pop("shingle", {})
    if not isinstance(shingle, dict):
        raise ValueError(f"shingle: received {shingle!r}; valid is {{unit: char or word, width: n}}")
    if unknown := sorted(set(shingle) - {"unit", "width"}):
        raise ValueError(f"shingle.{unknown[0]}: unknown key; valid: unit, width")
    if twice := sorted(set(shingle) & set(values)):
        raise ValueError(f"{', '.join(twice)}: given in shingle too; give it once")
    values |= shingle
    return {"width": DEFAULT_WORDS, **values} if values.get("unit") == "word" else values


def _with_layout(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the section with the bands and rows for its threshold, if it has one."""
    threshold, permutations = values.get("threshold"), values.get("permutations", 128)
    if not isinstance(threshold, float) or not isinstance(permutations, int):
        return values
    if not (0 < threshold < 1 and 1 <= permutations <= MAX_PERMUTATIONS):
        return values
    bands, rows = band_layout(threshold, permutations)
    if bands > MAX_BANDS:
        raise ValueError(f"threshold {threshold} with {permutations} values gives {bands} bands; at most {MAX_BANDS}")
    if values.get("bands", bands) != bands or values.get("rows", rows) != rows:
        raise ValueError(
            f"threshold {threshold} with {permutations} permutations gives {bands} bands of {rows} rows; "
            "give threshold, or bands and rows, not both"
        )
    return {**values, "bands": bands, "rows": rows}


class Guard(Section):
    """The treatment of clusters that are suspiciously large, or hold documents unlike the kept one."""

    action: Literal["split", "report", "off"] = Field(
        "split",
        description="`split`: documents unlike the kept one leave the cluster; `report`: they are only reported",
    )
    max_cluster: int = Field(10_000, ge=2, description="clusters of more documents are examined and reported")
    resemblance: Share | None = Field(
        None,
        ge=0,
        le=1,
        description="documents with a lower estimated Jaccard similarity to the kept one are unlike it; by "
        "default `dedup.threshold`, so that a document is removed only if it and the kept one are a checked pair "
        "or their sketches are clearly similar (0.5 with `verify: none`)",
    )
    max_examined: int = Field(
        500_000,
        ge=2,
        description="clusters of more documents are not examined (a kilobyte of memory each); if one holds documents "
        "unlike the kept one, the build stops",
    )


class Dedup(Section):
    """Which documents are compared, which pairs count, and which document of a cluster is kept."""

    short_documents: Literal["exclude", "include"] = Field(
        "exclude",
        description="whether short and featureless documents are compared (`include` is SlimPajama's defect)",
    )
    exact_first: bool = Field(
        True, description="find equal texts by their digest first, and pass only one document of each to the bands"
    )
    verify: Literal["none", "signature", "two_sided", "exact"] = Field(
        "two_sided",
        description="check of each candidate pair: `none`, by its sketches (`signature`), by the shingles of its texts "
        "(`exact`), or `two_sided`: by its sketches when they are far from the threshold, else by its texts",
    )
    rule: Literal["similar", "contained", "either"] = Field(
        "similar",
        description="which documents go: those `similar` to a kept one by `threshold`, those `contained` in one (a "
        "page within a longer page), or `either`",
    )
    contained: Share = Field(
        0.95,
        gt=0,
        le=1,
        description="share of a document's shingles that another must have to hold it, for `rule` contained or either",
    )
    template_share: Share | None = Field(
        None,
        gt=0,
        le=1,
        description="shingles that this share of a source's documents have are its template, and are left out when "
        "documents are compared: for sources of short records in one frame (calls, forms, logs); needs `family: oph`",
    )
    threshold: Share = Field(0.8, gt=0, le=1, description="Jaccard similarity from which a verified pair counts")
    ranges: int = Field(
        DEFAULT_RANGES,
        ge=1,
        le=MAX_RANGES,
        description="number of ranges of text digests and of documents, so that many workers search and check at "
        "once; the clusters do not depend on it",
    )
    keep: Annotated[list[Rule], BeforeValidator(_as_list), VALUES] = Field(
        default_factory=_first,
        min_length=1,
        max_length=4,
        description="rules in order: `source` (see `priority`), `longest`, `newest` (`created`), `first`; "
        "ties by source, shard and row",
    )
    priority: Annotated[list[Name], SOURCE] = Field(
        default_factory=list, description="sources in order of priority; those not named follow in configured order"
    )
    guard: Guard = Guard()
    max_loss: Share = Field(
        0.9, gt=0, le=1, description="largest share of a source's documents that may be removed; more stops the build"
    )

    @model_validator(mode="before")
    @classmethod
    def _resemblance_without_checked_pairs(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("verify") != "none":
            return values
        guard = values.get("guard", {})
        if isinstance(guard, dict) and guard.get("resemblance") is None:
            return {**values, "guard": {**guard, "resemblance": UNCHECKED_RESEMBLANCE}}
        return values

    @model_validator(mode="after")
    def _rules_in_effect(self) -> "Dedup":
        if len(set(self.keep)) < len(self.keep):
            raise ValueError(f"keep: a rule is named twice in {', '.join(self.keep)}")
        if "first" in self.keep[:-1]:
            raise ValueError("keep: nothing can come after 'first', which leaves no ties")
        if self.rule == "similar" and "contained" in self.model_fields_set:
            raise ValueError("contained: without effect with rule 'similar'; valid for it: contained, either")
        if self.priority and "source" not in self.keep:
            raise ValueError(f"priority: without effect unless keep names 'source'; keep is {', '.join(self.keep)}")
        return self
