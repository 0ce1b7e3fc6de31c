"""Options for reading the raw files of sources and datasets: formats, CSV, text of web pages."""

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
    model_validator,
)

from corpus_assets.config.naming import METADATA_KEY
from corpus_assets.config.section import Bytes, Section

Format = Literal[
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
    "warc",
    "warc.gz",
    "warc.zst",
    "warc.wet",
    "warc.wet.gz",
    "warc.wet.zst",
]
Library = Literal["combined", "trafilatura", "resiliparse"]
LIBRARIES: Final = get_args(Library)
"""Extractors of HTML that the project calls, the best first."""


def _how_many(value: Any) -> str:
    return "many" if isinstance(value, list) else "one"


def _whose(value: Any) -> str:
    return "own" if isinstance(value, str) and ":" in value else "library"


def _known(value: Any) -> Any:
    if isinstance(value, str) and value not in LIBRARIES and ":" not in value:
        raise ValueError(f"received {value!r}; valid: {', '.join(LIBRARIES)}, or module:function of your own")
    return value


def _given_once(value: list[str]) -> list[str]:
    if len(set(value)) < len(value):
        raise ValueError(f"received {', '.join(value)}; valid: each extractor once")
    return value


_Own = Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$", description="`module:function` of your own")]
_OneExtractor = Annotated[
    Annotated[Library, Tag("library")] | Annotated[_Own, Tag("own")],
    Discriminator(_whose),
    BeforeValidator(_known),
]
_Extractors = Annotated[
    Annotated[_OneExtractor, Tag("one")]
    | Annotated[list[_OneExtractor], Field(min_length=1), AfterValidator(_given_once), Tag("many")],
    Discriminator(_how_many),
]
Extractor = Annotated[
    _Extractors | None,
    Field(
        description="what extracts the main text of HTML in WARC files: `combined`, `trafilatura`, `resiliparse`, "
        "`module:function` of your own, or a list of these, of which the next one is asked where one finds too little "
        "(docs/web-text.md)"
    ),
]

LargestWindow = Annotated[
    Bytes,
    Field(
        ge=1 << 27,
        le=1 << 31,
        description="zstd and xz files that need a larger window to be decompressed are bad; it is memory of one open "
        "file (`zstd --long=31` needs `2 GiB`)",
    ),
]
"""The largest window of a compressed file."""
DEFAULT_WINDOW = 1 << 27

Key = Annotated[str, Field(min_length=1)]


Keys = Annotated[
    Annotated[Key, Tag("one")] | Annotated[list[Key], Field(min_length=1), Tag("many")], Discriminator(_how_many)
]
"""A key of a row, or several. Dots lead into objects, unless a row has a key with these dots."""

MetadataKeys = Annotated[
    list[Key] | None,
    METADATA_KEY,
    Field(description="keys of the metadata that are kept, such as `[url, crawl.date]`; by default all"),
]
TextSeparator = Annotated[
    str, Field(description="what stands between the texts of several keys, and of a list of strings")
]
BLANK_LINE = "\n\n"

_LINE_ENDS = "\r\n"


class Csv(Section):
    """How CSV and TSV files are written."""

    delimiter: str | None = Field(
        None, min_length=1, max_length=1, description="character between columns; by default a tab in `.tsv`, else `,`"
    )
    quote: str | None = Field(
        '"',
        min_length=1,
        max_length=1,
        description="character around values that hold delimiters or line ends; null for none",
    )
    escape: str | None = Field(
        None,
        min_length=1,
        max_length=1,
        description="character, such as `\\`, that makes a following quote, delimiter or line end part of a "
        "value; by default none, and quotes within quotes are doubled",
    )
    columns: list[str] | None = Field(
        None, min_length=1, description="names of the columns of files without a header; by default the first row"
    )

    @model_validator(mode="after")
    def _can_be_told_apart(self) -> "Csv":
        if self.delimiter is not None and self.delimiter in (self.quote, *_LINE_ENDS, " ", "\0"):
            raise ValueError(f"delimiter {self.delimiter!r}: valid is a character other than quote, space and line end")
        if self.quote is not None and self.quote in (*_LINE_ENDS, "\t", ",", " ", "\0"):
            raise ValueError(f"quote {self.quote!r}: valid is a character other than delimiters, space and line end")
        if self.escape is not None and self.escape in (self.delimiter, self.quote, *_LINE_ENDS, "\t", ",", " ", "\0"):
            raise ValueError(
                f"escape {self.escape!r}: valid is a character other than quote, delimiters, space and line end"
            )
        if self.columns and len(set(self.columns)) < len(self.columns):
            raise ValueError("columns: a name is given twice; names must differ")
        return self


class Html(Section):
    """How the text of web pages is written."""

    form: Literal["text", "markdown"] = Field(
        "text",
        description="`markdown`: with headings, lists, tables, code blocks and formulas (extra `web`)",
    )
    least: int = Field(
        200,
        ge=1,
        description="of several extractors the next one is asked if one gives fewer characters than this; if all do, "
        "the longest text is taken",
    )
    seconds: float | None = Field(
        None,
        gt=0,
        description="CPU seconds that a page may take; one that takes longer is a bad row (`extraction_too_long`); by "
        "default there is no limit",
    )

    @model_serializer(mode="wrap")
    def _without_a_limit_that_is_not_given(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Returns its values, without `seconds` if there is no limit, so that records stay as they are."""
        values: dict[str, Any] = dump(self)
        return {key: value for key, value in values.items() if key != "seconds" or value is not None}


def require_extractor(extractor: str | list[str] | None, html: Html) -> None:
    """Raises `ValueError` for options of web pages that no extractor has a use for."""
    given = [name for name, value in html if value != getattr(Html(), name)]
    if given and not extractor:
        raise ValueError(f"html: {', '.join(given)} without effect unless `extractor` is given; leave it out")
    if "least" in given and (isinstance(extractor, str) or len(extractor or ()) == 1):
        raise ValueError("html: least without effect unless `extractor` is a list of several; leave it out")


def given_options(
    csv: dict[str, Any], extractor: str | list[str] | None, html: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Returns the options that differ from the defaults; content depends on them.

    Defaults are left out, so that older recipes stay the same.
    """
    usual = Csv().model_dump()
    own = {f"csv.{key}": value for key, value in csv.items() if value != usual[key]}
    of_pages = Html().model_dump()
    own |= {f"html.{key}": value for key, value in (html or {}).items() if value != of_pages.get(key)}
    return own | ({"extractor": extractor} if extractor else {})


def several(keys: str | list[str]) -> tuple[str, ...]:
    """Returns the keys of `Keys`."""
    return (keys,) if isinstance(keys, str) else tuple(keys)
