"""`benchmarks` and `contamination` of `corpus.yaml`: evaluation files, and how the corpus is searched for them."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from corpus_assets.config.file_formats import DEFAULT_WINDOW, Csv, Keys, LargestWindow, several
from corpus_assets.config.naming import FILE, ROW_KEY
from corpus_assets.config.raw_places import LOCATION, S3Access, require_object_store
from corpus_assets.config.section import Bytes, Location, Name, Section, Share
from corpus_assets.config.sections import FollowLinks, Globs, Hidden, MaxBadRows, MayBeEmpty

LEVELS = {"strict": 8, "default": 13, "loose": 20}
"""Words of the n-grams of each level."""

FEWEST_WORDS = 3
"""Fewest words of an item that is searched for at all."""

OnContamination = Literal["report", "remove_document", "remove_span"]


def _set_name(value: str) -> str:
    if value == "any":
        raise ValueError("another name: attribute keys have `any` for all sets together")
    return value


class Benchmark(Section):
    """One set of evaluation files whose items must not be in the corpus. Each row is an item."""

    name: Annotated[Name, AfterValidator(_set_name)] = Field(
        description="short name, different from those of sources and datasets; part of every attribute key"
    )
    location: Annotated[Location, FILE] = Field(description=LOCATION.format("the files"))
    s3: S3Access | None = Field(None, description="access to the object store of an `s3://` location")
    glob: Annotated[Globs, FILE] = Field(
        "**/*", description="which files below `location`; `*` matches within a folder, `**` across folders"
    )
    format: Literal[
        "auto",
        "jsonl",
        "jsonl.gz",
        "json.gz",
        "jsonl.zst",
        "jsonl.zst.tar",
        "parquet",
        "arrow",
        "txt",
        "txt_list",
        "csv",
        "csv.gz",
        "csv.zst",
        "tsv",
        "tsv.gz",
        "tsv.zst",
    ] = Field("auto", description="`auto`: by suffix and content")
    csv: Csv = Csv()
    text_key: Annotated[Keys, ROW_KEY] = Field(
        "text", description="key of the item's text; the texts of a list of keys are joined by blank lines"
    )
    id_key: Annotated[str, ROW_KEY] = Field("id", description="key or column that holds the id")
    ids: Literal["auto", "given", "derived"] = Field(
        "auto",
        description="`given`: a row without an id is bad; `derived`: made from file and row; `auto`: as "
        "the first good row of a file",
    )
    on_bad_row: Literal["skip", "fail"] = Field("skip", description="skip and count a bad row, or fail its file")
    on_bad_file: Literal["fail", "skip"] = Field(
        "fail", description="fail a file that cannot be read, or continue without it and count it"
    )
    max_bad_rows: MaxBadRows = 0.0
    may_be_empty: MayBeEmpty = False
    follow_links: FollowLinks = False
    hidden: Hidden = False
    longest_row: Bytes = Field(16 << 20, description="rows and text files with more bytes are bad")
    largest_window: LargestWindow = DEFAULT_WINDOW

    @property
    def text_keys(self) -> tuple[str, ...]:
        """Returns the keys of the text, one or several."""
        return several(self.text_key)

    @property
    def key_part(self) -> str:
        """Returns its name in the form that attribute keys use."""
        return re.sub("[^A-Za-z0-9_]", "_", self.name)

    @model_validator(mode="after")
    def _unlike_keys(self) -> "Benchmark":
        require_object_store(self.location, self.s3)
        keys = [*self.text_keys, self.id_key]
        if "" in keys or len(set(keys)) < len(keys):
            raise ValueError(f"keys are {', '.join(map(repr, keys))}; valid: non-empty, each one used once")
        return self


def _word(value: Any) -> str:
    return "level" if isinstance(value, str) else "number"


Words = Annotated[
    Annotated[Annotated[int, Field(ge=3, le=64)], Tag("number")]
    | Annotated[Literal["strict", "default", "loose"], Tag("level")],
    Discriminator(_word),
]


class Contamination(Section):
    """The rules by which a document contains a piece of a benchmark item (docs/contamination.md)."""

    words: Words = Field("default", description="words per n-gram: `strict` 8, `default` 13, `loose` 20")
    shortest_item: int | None = Field(
        None,
        ge=3,
        description="words of the n-grams by which items of less than two n-grams are searched for, if that is more "
        "than 8; by default five eighths of `words` (8 of 13, 12 of 20)",
    )
    short_item_documents: int = Field(
        10,
        ge=0,
        description="items of fewer than 8 words (or `shortest_item`, if that is more), but three at least, are "
        "searched for as a whole; one in more documents is an everyday phrase, and does not count (0: items of fewer "
        "words than `shortest_item` are not searched for)",
    )
    punctuation: Literal["removed", "separates"] = Field(
        "removed",
        description="`removed`: don't becomes dont, as in the literature; `separates`: a+b becomes a b, better "
        "for code",
    )
    numbers: Literal["compared", "equal"] = Field(
        "compared",
        description="`equal`: all numbers are one, so items with other numbers are found too; n-grams with more "
        "numbers than other words do not count then",
    )
    document_limit: int = Field(
        1000, ge=1, description="n-grams that occur in more documents are boilerplate, and do not count"
    )
    item_limit: int = Field(
        100, ge=1, description="n-grams that occur in more items are a template of the benchmark, and do not count"
    )
    item_share: Share = Field(
        0.25,
        gt=0,
        le=1,
        description="n-grams that occur in a larger share of a set's items, and in five at least, are a template "
        "too (1: only `item_limit` counts)",
    )
    share: Share = Field(
        0.5, ge=0, le=1, description="share of an item that a document must hold before `on_contamination` acts"
    )
    allowed: Share | None = Field(
        None,
        ge=0,
        le=1,
        description="share of a benchmark's items that train may still hold to the extent of `share`; the asset "
        "check `benchmarks_in_train` fails if there are more (none: no such check)",
    )

    @property
    def ngram(self) -> int:
        """Returns the words of an n-gram."""
        return LEVELS[self.words] if isinstance(self.words, str) else self.words

    @property
    def shortest(self) -> int:
        """Returns the words that an item must have to be looked for."""
        return max(3, self.ngram * 5 // 8) if self.shortest_item is None else self.shortest_item

    @property
    def piece(self) -> int:
        """Returns the words of the n-grams of items of less than two n-grams."""
        return min(self.ngram, max(self.shortest, LEVELS["strict"]))

    @property
    def fewest(self) -> int:
        """Returns the words that an item must have to be looked for."""
        return FEWEST_WORDS if self.short_item_documents else self.shortest

    @model_validator(mode="after")
    def _fits(self) -> "Contamination":
        if self.shortest > self.ngram:
            raise ValueError(f"shortest_item is {self.shortest}; valid: at most words, {self.ngram}")
        return self
