"""`dedupers` of `corpus.yaml`: which repeated documents, paragraphs, n-grams or substrings are marked as attributes."""

import re
from math import ceil, exp, log, log2
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from corpus_assets.config.naming import FILE, SOURCE, VALUES
from corpus_assets.config.section import Bytes, Name, Section, Share
from corpus_assets.config.sections import Globs
from corpus_assets.config.selection.attributes import entry_name, key_prefix
from corpus_assets.config.selection.kinds.semantic import Semantic
from corpus_assets.config.selection.kinds.substrings import Substrings

_PARTS = ("paragraphs", "ngrams")
_FIELDS = ("text", "id", "added", "created", "url")
_WORD_BITS = 64
_LARGEST = 32 << 30
"""Largest filter in bytes whose words can be numbered with 32 bits."""


def _subject(value: str) -> str:
    if value in (*_FIELDS, *_PARTS) or re.fullmatch(r"metadata(\.[^.]+)+", value):
        return value
    raise ValueError("text, id, added, created, url, metadata.KEY, paragraphs or ngrams")


class Ngrams(Section):
    """N-grams of words, by which paragraphs are compared (`by: ngrams`)."""

    length: int = Field(13, ge=1, le=1000, description="words of an n-gram (Unicode's word boundaries)")
    stride: int = Field(1, ge=1, description="compare only n-grams that begin at every so many words")
    threshold: Share = Field(
        0.8, ge=0, le=1, description="a paragraph is marked if at least this share of its n-grams occurred earlier"
    )
    skip_short: bool = Field(
        False,
        description="leave out paragraphs with fewer words than an n-gram; by default they are compared as a whole",
    )


class Bloom(Section):
    """A Bloom filter instead of the exact comparison: false positives are bounded, memory is fixed."""

    items: int = Field(gt=0, description="most different documents, paragraphs or n-grams that it must hold")
    error: Share = Field(1e-6, gt=0, lt=1, description="share of first occurrences that may be taken for repetitions")
    size: Bytes | None = Field(None, description="bytes of the filter; by default as many as the error needs")

    @property
    def functions(self) -> int:
        """The number of hash functions that gives the error in the least space."""
        return max(1, ceil(-log2(self.error)))

    @property
    def least(self) -> int:
        """Returns the bytes needed for the error, in whole words of 64 bits."""
        per_function = -log(1 - self.error ** (1 / self.functions))
        return ceil(self.functions * self.items / per_function / _WORD_BITS) * (_WORD_BITS // 8)

    @property
    def bytes(self) -> int:
        """Returns the bytes of the filter, in whole words."""
        return self.least if self.size is None else self.size // 8 * 8

    def error_of(self, size: int) -> float:
        """Returns the share of false positives of a filter of so many bytes that holds all items."""
        return (1 - exp(-self.functions * self.items / (8 * size))) ** self.functions if size else 1.0

    def described(self, name: str) -> str:
        """Returns size and error in words, for the plan and builds."""
        return (
            f"dedupers.{name}: Bloom filter of {self.bytes:,} bytes, {self.functions} hash functions; with "
            f"{self.items:,} different items {self.error_of(self.bytes):.1e} of the first copies are marked by mistake"
        )

    @model_validator(mode="after")
    def _large_enough(self) -> "Bloom":
        if self.bytes < self.least:
            raise ValueError(
                f"size {self.size:,} bytes gives an error of {self.error_of(self.bytes):.1e} with {self.items:,} "
                f"items; an error of {self.error:.1e} needs {self.least:,} bytes"
            )
        if self.bytes > _LARGEST:
            raise ValueError(f"a filter of {self.bytes:,} bytes; valid: at most {_LARGEST:,} bytes, or no filter")
        return self


class Deduper(Section):
    """One way to find repetitions: assets `<name>_hashes`, `<name>_seen` and `<name>_attributes`."""

    name: Annotated[Name, AfterValidator(entry_name)] = Field(
        description="short name; folder of the attribute files, and first part of the attribute key"
    )
    by: Annotated[str, AfterValidator(_subject), VALUES] = Field(
        description="what is compared: `text`, `id`, `added`, `created`, `url` (`metadata.url`), `metadata.KEY`, "
        "`paragraphs` or `ngrams`"
    )
    separator: str = Field("\n", min_length=1, max_length=1000, description="text between paragraphs")
    skip_empty: bool = Field(True, description="leave out values that are empty or only whitespace")
    min_length: int = Field(0, ge=0, description="texts, values or paragraphs with fewer code points are left out")
    min_words: int = Field(0, ge=0, description="those with fewer words are left out")
    ngram: Ngrams = Field(Ngrams(), description="with `by: ngrams`")
    flag_share: Share = Field(
        1.0,
        gt=0,
        le=1,
        description="the document is flagged for `mix.leave_out` if marked paragraphs hold at least this share "
        "of its compared code points",
    )
    attribute: str | None = Field(
        None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="key of the attribute; by default `<name>__<by>__duplicate`",
    )
    against: Annotated[Annotated[list[Name], Field(min_length=1)] | None, SOURCE] = Field(
        None,
        description="mark what also occurs in documents of these sources, and nothing else; by default, what "
        "occurred earlier",
    )
    sources: Annotated[Annotated[list[Name], Field(min_length=1)] | None, SOURCE] = Field(
        None, description="compare and mark only documents of these sources; by default all"
    )
    glob: Annotated[Globs | None, FILE] = Field(
        None, description="only documents of these files, by paths as in `glob` of a source; by default all"
    )
    compat: Literal["dolma"] | None = Field(None, description="spans, scores and n-grams of Dolma 1.2.1")
    bloom: Bloom | None = Field(None, description="compare with a Bloom filter; by default exactly")

    @property
    def prefix(self) -> str:
        """Returns the first part of its attribute key."""
        return key_prefix(self.name)

    @property
    def key(self) -> str:
        """Returns the key of the attribute."""
        return self.attribute or f"{self.prefix}__{key_prefix(self.by)}__duplicate"

    @model_validator(mode="after")
    def _goes_together(self) -> "Deduper":
        if self.by != "ngrams" and "ngram" in self.model_fields_set:
            raise ValueError(f"ngram goes with `by: ngrams`; by is {self.by!r}")
        for key in ("separator", "flag_share"):
            if self.by not in _PARTS and key in self.model_fields_set:
                raise ValueError(f"{key} goes with `by: paragraphs` or `by: ngrams`; by is {self.by!r}")
        if self.against is not None and self.bloom:
            raise ValueError("against goes without bloom: what is known is compared exactly, in bounded memory")
        for what, names in (("against", self.against or []), ("sources", self.sources or [])):
            if len(set(names)) < len(names):
                raise ValueError(f"{what}: a source is named twice in {', '.join(names)}")
        if self.compat and self.min_words:
            raise ValueError("min_words turns deduplication off in Dolma 1.2.1; leave out min_words or compat")
        return self


_BY, _KINDS = "of equal values", ("substrings", "semantic")


def _known(entry: Any) -> Any:
    """Returns an entry of `dedupers` if its kind is known; `ValueError` for another."""
    if isinstance(entry, dict) and entry.get("kind", _KINDS[0]) not in _KINDS:
        raise ValueError(f"kind is {entry['kind']!r}; valid: {', '.join(_KINDS)}, or no kind and `by`")
    return entry


def _kind(value: Any) -> Any:
    """Returns the kind of an entry. With a space it is no key: places of faults name it too."""
    return value.get("kind", _BY) if isinstance(value, dict) else getattr(value, "kind", _BY)


AnyDeduper = Annotated[
    Annotated[Deduper, Tag(_BY)] | Annotated[Substrings, Tag("substrings")] | Annotated[Semantic, Tag("semantic")],
    Discriminator(_kind),
    BeforeValidator(_known),
]
"""An entry of `dedupers`: of values that are equal, or of a kind of its own."""
