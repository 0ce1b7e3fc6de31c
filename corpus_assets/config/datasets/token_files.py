"""Files of ids that exist already, which a dataset reads instead of texts."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import Field

from corpus_assets.config.naming import ROW_KEY, TOKEN
from corpus_assets.config.own_files import OwnFiles

TokenFormat = Literal["megatron", "ragged", "olmo", "mds", "litdata", "nanogpt", "llmc"]
IdType = Literal["uint8", "uint16", "int32", "uint32", "int64"]
RAW: Final = ("olmo", "nanogpt")
"""Formats whose files do not say of which type their ids are."""

NO_BORDERS: Final = ("litdata", "nanogpt", "llmc")
"""Formats that say nothing of where documents end."""

BEFORE: Final = ("llmc",)
"""Formats in which the separator usually stands before documents."""

FIELDS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "id_type": (*RAW, "mds"),
    "wrapped_ids": ("ragged",),
    "column": ("mds",),
}
"""The formats that read an option; any other option is read by all."""


class TokenFiles(OwnFiles):
    """Files of ids that exist already, in a format of trainers (docs/token-files.md)."""

    format: TokenFormat = Field(description="what the files are")
    borders: Literal["auto", "stored", "separator"] = Field(
        "auto",
        description="how documents are told apart: as the format stores it, or by the separator; `auto`: as stored "
        "where the format stores it",
    )
    separator: Literal["auto", "after", "before", "none"] = Field(
        "auto",
        description="where the files hold a separator of documents, which is taken off; `auto` is that of the format: "
        "`before` for llmc, `none` for ragged, else `after`",
    )
    separator_token: Annotated[str | None, TOKEN] = Field(
        None, description="the separator; by default end-of-text after, and begin-of-text before, if there is one"
    )
    id_type: IdType | None = Field(
        None,
        description="type of the ids where files do not say it; by default uint16 for nanogpt, and for olmo the "
        "smallest unsigned type that holds the vocabulary",
    )
    wrapped_ids: bool = Field(
        False, description="ragged: negative ids of int16 files are those over 32,767, which were written wrapped"
    )
    column: Annotated[str, ROW_KEY] = Field("tokens", min_length=1, description="mds: the column that holds the ids")
    longest_document: int = Field(
        2**26, ge=1, lt=2**31, description="a document of more ids is bad; it bounds memory (4 bytes an id)"
    )

    @property
    def side(self) -> str:
        """Returns where the separator stands: `after`, `before` or `none`."""
        if self.separator != "auto":
            return self.separator
        return "none" if self.format == "ragged" else "before" if self.format in BEFORE else "after"

    @property
    def by_separator(self) -> bool:
        """Returns whether documents are told apart by the separator alone; for olmo, files say it."""
        return self.borders == "separator" or self.format in NO_BORDERS

    def problems(self) -> Iterator[str]:
        """Yields what is wrong with options that are valid each by itself."""
        for name, formats in FIELDS_OF.items():
            if self.format not in formats and getattr(self, name) != type(self).model_fields[name].default:
                yield f"input.{name} is not read with format {self.format}; valid with {', '.join(formats)}"
        if self.borders == "stored" and self.format in NO_BORDERS:
            yield f"input.borders is 'stored', and {self.format} stores none; valid: separator"
        if self.by_separator and self.side == "none":
            yield "input.separator is 'none', by which no documents can be told apart; valid: after, before"
        if self.side == "none" and self.separator_token is not None:
            yield f"input.separator_token is {self.separator_token!r}; valid without a separator: none"


TOKEN_FORMATS: Final = get_args(TokenFormat)


def reads_tokens(entry: Mapping[str, Any]) -> bool:
    """Returns whether an entry of `datasets` reads files of ids."""
    given = entry.get("input")
    return isinstance(given, Mapping) and given.get("format") in TOKEN_FORMATS
