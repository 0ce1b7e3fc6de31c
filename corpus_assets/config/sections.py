"""The sections of `corpus.yaml`, each a strict, immutable model; `corpus_config.py` puts them together."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Discriminator, Field, JsonValue, Tag, model_validator

from corpus_assets.config.file_formats import (
    BLANK_LINE,
    DEFAULT_WINDOW,
    Csv,
    Extractor,
    Format,
    Html,
    Keys,
    LargestWindow,
    MetadataKeys,
    TextSeparator,
    require_extractor,
    several,
)
from corpus_assets.config.naming import FILE, METADATA_KEY, ROW_KEY
from corpus_assets.config.raw_places import LOCATION, S3Access, require_object_store
from corpus_assets.config.section import Bytes, Location, Name, Section, Share
from corpus_assets.config.text_fixes import TextFixes
from resources.outside.hidden import shown_address


class HoldoutCount(Section):
    """A holdout of a fixed number of documents."""

    count: int = Field(ge=0, description="documents to hold out of each source")


def _container(value: Any) -> str:
    """Returns the branch of a union that a value belongs to, so that a fault in it is reported once."""
    return "many" if isinstance(value, dict | list | BaseModel) else "one"


Holdout = Annotated[
    Annotated[Share, Field(ge=0, lt=1), Tag("one")] | Annotated[HoldoutCount, Tag("many")], Discriminator(_container)
]
Pattern = Annotated[str, Field(min_length=1)]
Globs = Annotated[
    Annotated[Pattern, Tag("one")] | Annotated[list[Pattern], Field(min_length=1), Tag("many")],
    Discriminator(_container),
]

MaxBadRows = Annotated[
    Share,
    Field(
        ge=0,
        le=1,
        description="share of rows, or of files with `on_bad_file: skip`, that may be bad, and share of files "
        "with an unknown suffix; if there are more, everything downstream is held back",
    ),
]
MayBeEmpty = Annotated[
    bool,
    Field(
        description="continue if there are no files, most are gone, or no row is good; otherwise everything "
        "downstream waits"
    ),
]
FollowLinks = Annotated[
    bool,
    Field(description="read files outside the folder if links in it lead to them; links to folders are never followed"),
]
Hidden = Annotated[
    bool,
    Field(
        description="read hidden files and folders too (`.snapshot/`, `.ipynb_checkpoints/`), and folders that "
        "systems use for themselves (`_temporary/`, `__MACOSX/`)"
    ),
]


class Source(Section):
    """One source: a folder of raw files that share a format and a purpose."""

    name: Name = Field(description="short name; part of every document's identity and of every path")
    location: Annotated[Location, FILE] = Field(description=LOCATION.format("the raw files"))
    s3: S3Access | None = Field(None, description="access to the object store of an `s3://` location")
    glob: Annotated[Globs, FILE] = Field(
        "**/*", description="which files below `location`; `*` matches within a folder, `**` across folders"
    )
    format: Format = Field(
        "auto",
        description="`auto`: by suffix and content; `txt_list`: a text file that lists `.txt` files",
    )
    csv: Csv = Csv()
    extractor: Extractor = None
    html: Html = Html()
    text_key: Annotated[Keys, ROW_KEY] = Field(
        "text",
        description="key or column that holds the text; dots lead into objects, and the texts of a list of keys are "
        "joined by `text_separator` (docs/inputs.md)",
    )
    text_separator: TextSeparator = BLANK_LINE
    id_key: Annotated[str, ROW_KEY] = Field("id", description="key or column that holds the id; dots lead into objects")
    ids: Literal["auto", "given", "derived"] = Field(
        "auto",
        description="`given`: a row without an id is bad; `derived`: made from source, file and row; `auto`: as "
        "the first good row of a file",
    )
    metadata_key: Annotated[str | None, ROW_KEY] = Field(
        None, description="key that holds the metadata object; by default `metadata`, else `meta`"
    )
    metadata_keys: MetadataKeys = None
    on_bad_row: Literal["skip", "fail"] = Field("skip", description="skip and count a bad row, or fail its shard")
    on_bad_file: Literal["fail", "skip"] = Field(
        "fail", description="fail a shard whose file cannot be read, or continue without it and count it"
    )
    max_bad_rows: MaxBadRows = 0.5
    may_be_empty: MayBeEmpty = False
    follow_links: FollowLinks = False
    hidden: Hidden = False
    epochs: float = Field(
        1.0,
        ge=0,
        le=1000,
        description="how often each kept document is used; 2.5 = twice, and half of them a third time; below 1 "
        "some are not used, and their duplicates neither (other name: `weight`)",
    )
    holdout: Holdout | None = Field(None, description="overrides `split.holdout` for this source")
    longest_row: Bytes = Field(256 << 20, description="rows and text files with more bytes are bad")
    largest_window: LargestWindow = DEFAULT_WINDOW
    licence: str | None = Field(None, description="licence of the texts, for the record and for `licences.allow`")
    licence_key: Annotated[str | None, METADATA_KEY] = Field(
        None,
        min_length=1,
        description="key of the metadata with a document's own licence, such as `license`; replaces the licence "
        "of the source; dots lead into objects",
    )

    @model_validator(mode="before")
    @classmethod
    def _weight(cls, values: Any) -> Any:
        if not isinstance(values, dict) or "weight" not in values:
            return values
        if "epochs" in values:
            raise ValueError("weight and epochs are two names of one value; give one of them")
        return {"epochs" if key == "weight" else key: value for key, value in values.items()}

    @model_validator(mode="after")
    def _fits(self) -> "Source":
        require_object_store(self.location, self.s3)
        require_extractor(self.extractor, self.html)
        if self.ids == "given" and self.format in ("txt", "txt_list"):
            raise ValueError(f"ids: given cannot be with format {self.format}, which has no ids; valid: auto, derived")
        keys = [key for key in (*several(self.text_key), self.id_key, self.metadata_key) if key is not None]
        if len(set(keys)) < len(keys):
            raise ValueError(f"text_key, id_key and metadata_key must differ; received {', '.join(map(repr, keys))}")
        return self


class Normalize(Section):
    """Text normalization."""

    method: Literal["nfc", "ftfy", "none"] = Field("nfc", description="Unicode NFC, ftfy (with NFC), or unchanged")
    ftfy: TextFixes | None = Field(
        None,
        description="with `method: ftfy`: what it fixes besides broken characters; by default entities, "
        "ligatures, widths and quotes",
    )
    texts: Literal["strings", "slimpajama"] = Field(
        "strings",
        description="`slimpajama`: in JSON lines a row may also be a bare string, which is its text, and a text a list "
        "of strings, which is joined by blank lines; with `strings` such rows are bad",
    )

    @model_validator(mode="after")
    def _fixes_of_ftfy(self) -> "Normalize":
        if self.ftfy is not None and self.method != "ftfy":
            raise ValueError(f"ftfy goes with `method: ftfy`; method is {self.method!r}")
        return self


class ShortDocuments(Section):
    """The short-document list."""

    threshold: int = Field(200, ge=0, description="documents with fewer cleaned characters are dropped from the mix")


class Split(Section):
    """Holdout and decontamination."""

    seed: int = Field(0, ge=0, lt=2**63, description="another seed holds out other documents")
    holdout: Holdout = Field(0.01, description="share of each source's documents, or `{count: n}` documents of each")
    validation: Share = Field(0.5, ge=0, le=1, description="share of the holdout that is validation; the rest is test")
    method: Literal["content_hash", "slimpajama"] = Field(
        "content_hash", description="`slimpajama`: the first documents of each shuffled chunk (needs a share)"
    )

    @model_validator(mode="after")
    def _share_for_compat(self) -> "Split":
        if self.method == "slimpajama" and isinstance(self.holdout, HoldoutCount):
            raise ValueError("holdout must be a share with method slimpajama, not a count")
        return self


def _word(value: Any) -> str:
    return "one" if isinstance(value, str) else "many"


def _number_or_auto(value: Any) -> Any:
    if isinstance(value, str) and value != "auto":
        raise ValueError("'auto', or a whole number")
    return value


Workers = Annotated[
    Annotated[Annotated[int, Field(ge=0, le=4096)], Tag("many")] | Annotated[Literal["auto"], Tag("one")],
    Discriminator(_word),
    BeforeValidator(_number_or_auto),
]


LEAST_MEMORY = 16 << 20
"""With less memory most of the time would go into scratch files; tests lower it to test that."""


def _enough(value: int) -> int:
    if value < LEAST_MEMORY:
        raise ValueError(f"at least {LEAST_MEMORY >> 20} MiB for all workers of a machine together")
    return value


class EngineSection(Section):
    """The engine, which runs the work. Results never depend on it."""

    kind: str = Field(
        "local",
        description="`local`: a pool of processes on this machine; `ray`: a Ray cluster (docs/clusters.md); or "
        "`module:function` of an engine of your own",
    )
    workers: Workers = Field(
        "auto", description="processes; `auto` = one per core, of all machines of a cluster; 0 = none (debugging)"
    )
    memory: Annotated[Bytes, AfterValidator(_enough)] = Field(
        2 << 30,
        description="memory of a machine for all workers on it together, such as `4 GiB`, including what each "
        "takes before it holds data (docs/clusters.md); at least 16 MiB",
    )
    job_timeout: Annotated[float, Field(gt=0)] | None = Field(
        None,
        description="most seconds for one partition; one that takes longer fails, and the others continue (no "
        "effect with `workers: 0`)",
    )
    address: str = Field(
        "auto",
        description="address of the Ray cluster: `auto` for the one of this machine or of `RAY_ADDRESS`, `HOST` "
        "or `HOST:PORT` (default 6379), or `local` for one that starts and ends with the build",
    )
    retries: int = Field(3, ge=0, le=100, description="how often a task whose machine was lost is started again")
    options: dict[str, JsonValue] = Field(default={}, description="options for an engine of your own")

    @model_validator(mode="after")
    def _of_a_cluster(self) -> "EngineSection":
        if self.kind == "ray":
            if not re.fullmatch(r"auto|local|[^\s/:]+(:\d{1,5})?", self.address):
                raise ValueError(
                    f"address is {shown_address(self.address)}; valid with kind ray: auto, local, HOST or HOST:PORT"
                )
            if self.workers == 0:
                raise ValueError("workers is 0; valid with kind ray: auto, or at least 1")
        elif given := sorted({"address", "retries"} & self.model_fields_set):
            raise ValueError(f"{' and '.join(given)}: only with kind ray")
        return self
