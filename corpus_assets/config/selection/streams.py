"""`streams` of `corpus.yaml`: documents with their attributes, filtered, as the mixer of Dolma writes them."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from corpus_assets.config.naming import ATTRIBUTE, FILE, ROW_KEY, SOURCE
from corpus_assets.config.section import Bytes, Name
from corpus_assets.config.sections import Globs
from corpus_assets.config.selection.filter import RowRules


class Stream(RowRules):
    """Documents with their attributes: assets `<name>_stream_documents` and `<name>_stream` (docs/filter.md)."""

    name: Name = Field(description="short name; folder of its files, and first part of their names")
    sources: Annotated[Annotated[list[Name], Field(min_length=1)] | None, SOURCE] = Field(
        None, description="sources of the documents; by default all"
    )
    glob: Annotated[Globs | None, FILE] = Field(
        None, description="which of their files, by their paths as in `glob` of a source; by default all"
    )
    attributes: Annotated[list[str] | None, ATTRIBUTE] = Field(
        None,
        description="entries of `attributes` that are written with the documents and that expressions can read; "
        "by default those whose keys expressions name",
    )
    discard_fields: Annotated[list[str], ROW_KEY] = Field(
        default=[], description="keys to remove from rows, such as `attributes` or `added`"
    )
    max_size: Bytes | None = Field(
        None,
        description="join the files of several shards, as long as their raw files have no more bytes together; "
        "by default each shard has its own file",
    )
    codec: Literal["gz", "zst"] = Field("gz", description="compression of the files that `max_size` puts together")
    compat: Literal["dolma"] | None = Field(
        None,
        description="as Dolma 1.2.1: rows have the keys and texts of the raw rows (JSON lines only), overlapping spans "
        "are not united, and `min_text_length` counts UTF-8 bytes",
    )

    @model_validator(mode="after")
    def _keeps_documents(self) -> "Stream":
        if kept := sorted({"id", "text"} & set(self.discard_fields)):
            raise ValueError(f"discard_fields: {kept[0]} cannot be removed; without it a row is no document")
        if self.codec != "gz" and self.max_size is None:
            raise ValueError(f"codec: {self.codec} goes with max_size; files of single shards are jsonl.gz")
        for what, names in (("sources", self.sources or []), ("discard_fields", self.discard_fields)):
            if len(set(names)) < len(names):
                raise ValueError(f"{what}: one is named twice in {', '.join(names)}")
        return self
