"""An entry of `attributes` whose rows lie in files that somebody else made, beside the raw files."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Discriminator, Field, Tag, model_validator

from corpus_assets.config.naming import ATTRIBUTE, FILE, ROW_KEY, SOURCE
from corpus_assets.config.raw_places import S3Access, require_object_store
from corpus_assets.config.section import Bytes, Location, Name, Section
from corpus_assets.config.sections import FollowLinks
from corpus_assets.config.selection.attributes import Attributes, entry_name, key_prefix
from corpus_assets.config.selection.learned.score_buckets import ScoreBuckets
from resources.raw_places.addresses import scheme_of


def _listed(location: str) -> str:
    if scheme_of(location) in ("http", "https"):
        raise ValueError("a folder of this machine, s3://bucket/prefix or hf://datasets/org/name@revision")
    return location


Folder = Annotated[Location, AfterValidator(_listed)]
Folders = Annotated[
    Annotated[Folder, Tag("one")] | Annotated[dict[Name, Folder], Field(min_length=1), Tag("many")],
    Discriminator(lambda value: "many" if isinstance(value, dict) else "one"),
]


class Flagged(Section):
    """Which documents an attribute flags, for `mix.leave_out`."""

    attribute: Annotated[str, ATTRIBUTE] = Field(
        min_length=1,
        description="key of an attribute, as the files have it, or as it is written, such as NAME__NAME__KEY__LABEL",
    )
    min_score: float | None = Field(None, description="flags documents with a span of at least this score")
    max_score: float | None = Field(None, description="only spans with a lower score than this")

    @model_validator(mode="after")
    def _fits(self) -> "Flagged":
        if self.min_score is None and self.max_score is None:
            raise ValueError("give min_score, max_score or both")
        if self.min_score is not None and self.max_score is not None and self.min_score >= self.max_score:
            raise ValueError(f"min_score {self.min_score:g} is not under max_score {self.max_score:g}")
        return self


class AttributeFiles(Section):
    """Attributes that somebody else made: one asset `<name>_attributes`, as of taggers (docs/attributes.md)."""

    name: Annotated[Name, AfterValidator(entry_name)] = Field(
        description="short name; folder of the files that are written, and first part of every attribute key"
    )
    location: Annotated[Folders, FILE] = Field(
        description="folder whose tree mirrors that of the raw files: of this machine, `s3://bucket/prefix` or "
        "`hf://datasets/org/name@revision`; or such a folder for each source that has attributes",
    )
    s3: S3Access | None = Field(None, description="access to the object store of an `s3://` location")
    sources: Annotated[list[Name] | None, SOURCE] = Field(
        None,
        min_length=1,
        description="with one `location`: sources that have attributes, by default all; documents of others have none",
    )
    format: Literal["auto", "jsonl", "jsonl.gz", "json.gz", "jsonl.zst", "jsonl.zst.tar", "parquet", "arrow"] = Field(
        "auto", description="format of the files; `auto`: by suffix and content"
    )
    align: Literal["rows", "id"] = Field(
        "rows", description="`rows`: row n describes row n of the raw file; `id`: rows are in any order, joined by id"
    )
    id_key: Annotated[str | None, ROW_KEY] = Field(
        "id", min_length=1, description="key of a row with the id of its document; null: only rows are counted"
    )
    attributes_key: Annotated[str, ROW_KEY] = Field(
        "attributes",
        min_length=1,
        description="key of a row with an object of its attributes; in rows without it every other key is an attribute",
    )
    keys: Annotated[list[str] | None, ATTRIBUTE] = Field(
        None, min_length=1, description="attributes that are taken, as the files name them; by default all"
    )
    flagged: Flagged | None = Field(
        None, description="documents that `mix.leave_out` leaves out; by default those with any score above 0"
    )
    on_missing: Literal["fail", "skip"] = Field(
        "fail",
        description="a raw file without a file of attributes, or with `align: id` a document without a row, fails its "
        "shard, or has no attributes",
    )
    on_changed_text: Literal["move", "fail", "skip"] = Field(
        "move",
        description="spans of a text that normalization changed move with it, and fail the shard where they cannot; "
        "every changed text fails the shard; or those that cannot move are left out",
    )
    follow_links: FollowLinks = False
    longest_row: Bytes = Field(256 << 20, description="a row with more bytes is a fault")

    @property
    def prefix(self) -> str:
        """Returns the first part of its attribute keys."""
        return key_prefix(self.name)

    def of_sources(self) -> list[str] | None:
        """Returns the sources that it names; None for all."""
        return list(self.location) if isinstance(self.location, dict) else self.sources

    @model_validator(mode="after")
    def _fits(self) -> "AttributeFiles":
        for location in self.location.values() if isinstance(self.location, dict) else [self.location]:
            require_object_store(location, self.s3)
        if self.sources is not None and isinstance(self.location, dict):
            raise ValueError("sources: without effect, since `location` names sources; leave it out")
        if self.id_key is None and self.align == "id":
            raise ValueError("id_key: null cannot be with `align: id`, which joins by ids")
        return self


def _is_entry(value: Any) -> Any:
    if not isinstance(value, dict | BaseModel):
        raise ValueError("a mapping with `name`, and `taggers`, `location` or `score`")
    return value


def _made_by(value: Any) -> str:
    given = value if isinstance(value, dict) else value.__dict__
    if "score" in given:
        return ScoreBuckets.__name__
    return AttributeFiles.__name__ if "location" in given else Attributes.__name__


AttributeEntry = Annotated[
    Annotated[Attributes, Tag("Attributes")]
    | Annotated[AttributeFiles, Tag("AttributeFiles")]
    | Annotated[ScoreBuckets, Tag("ScoreBuckets")],
    Discriminator(_made_by),
    BeforeValidator(_is_entry),
]
"""An entry of `attributes`: taggers; files that somebody else made, with a `location`; or buckets of a `score`."""
