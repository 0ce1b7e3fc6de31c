"""`datasets` of `corpus.yaml` in formats whose rows are windows, or may be: one strict section per format."""

from collections.abc import Iterator, Set
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from corpus_assets.config.datasets.export_options import Export
from corpus_assets.config.datasets.masked import (
    ROWS,
    Column,
    LongDocuments,
    MaskedOptions,
    ReaderName,
    RowPacking,
    format_of,
)
from corpus_assets.config.section import Bytes


class UnitExport(Export):
    """Options of formats whose rows are windows of a fixed length, or whole documents."""

    unit: Literal["window", "document", "row"] = Field(
        "window",
        description="`window`: ids of documents one after another, with their separators, cut without overlap; "
        "`document`: one row per document, of any length; `row`, for parquet and arrow: several documents share a row "
        "of up to `sequence_length` ids",
    )
    sequence_length: int = Field(2048, ge=2, le=2**20, description="ids per window or row: the trainer's context")
    keep_tail: bool = Field(
        False,
        description="windows: keep the last, shorter one of each chunk or input file; otherwise its ids are "
        "dropped and counted",
    )

    @override
    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.unit != "window" and self.keep_tail:
            what = "documents are never cut" if self.unit == "document" else "rows have no tail"
            yield f"keep_tail goes with `unit: window`: {what}"


class MdsExport(UnitExport):
    """MosaicML's MDS for llm-foundry and Composer: shards with a column `tokens`, a folder for each chunk.

    Labels are shifted in the model, so a window has as many ids as the context.
    """

    format: Literal["mds"]
    fixed_size: bool = Field(
        False,
        description="windows: encode as `ndarray:int32:LENGTH`, 7 bytes smaller each than `ndarray:int32`",
    )
    size_limit: Bytes = Field(1 << 26, ge=1 << 10, lt=1 << 32, description="largest shard before compression")
    compression: str | None = Field(
        None,
        pattern="^zstd(:([1-9]|1[0-9]|2[0-2]))?$",
        description="`zstd` or `zstd:LEVEL`: compress shards; readers unpack each as a whole",
    )
    hashes: list[Literal["md5", "sha1", "sha256", "xxh128", "xxh3_64", "xxh64"]] = Field(
        default=[], description="checksums of shards in `index.json`, for `validate_hash` of the reader"
    )

    @override
    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.unit == "row":
            yield (
                "unit is 'row'; valid with `format: mds`: window, document: llm-foundry finds documents by end-of-text "
                "ids alone, and reads no column that says where they begin"
            )
        if self.fixed_size and (self.unit == "document" or self.keep_tail):
            yield "fixed_size goes with windows of one length: `unit: window`, without keep_tail"
        if sorted(set(self.hashes)) != self.hashes:
            yield f"hashes are {self.hashes}; valid: each once, in the order of their names"


class LitdataExport(Export):
    """Chunks of blocks for LitGPT and litdata's `TokensLoader`.

    A block is the trainer's context and one id more. What is left at the end of each chunk or input file is dropped and
    counted: the loader reads whole blocks only.
    """

    format: Literal["litdata"]
    sequence_length: int = Field(
        2049, ge=2, le=2**20, description="ids per block: the trainer's context and one more (`block_size` there)"
    )
    chunk_blocks: int = Field(16384, ge=1, le=2**24, description="blocks per file, which is mapped as a whole")

    @override
    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.chunk_blocks * (4 * self.sequence_length + 4) >= (1 << 32) - 16:
            yield (
                f"chunk_blocks is {self.chunk_blocks}; valid with sequence_length {self.sequence_length}: "
                f"at most {((1 << 32) - 17) // (4 * self.sequence_length + 4)} (files below 4 GiB)"
            )


class ColumnsExport(UnitExport):
    """Rows with columns of one's choice: windows, documents, or several documents in each."""

    later: ClassVar[Set[str]] = frozenset({"reader", "packing", "packing_depth", "long_documents"})

    # Manifests list options in the order of fields.
    format: Literal["parquet", "arrow"]
    reader: ReaderName | None = Field(
        None, description="rows: the trainer that reads them; what it would misread is refused"
    )
    columns: list[Column | Literal["source"]] = Field(
        default=[],
        description="windows: `position_ids` beside the ids, which begin with 0 at every document and every window; "
        "documents: `source` beside the ids; rows: all columns, by default those of the reader",
    )
    file_ids: int = Field(2**27, ge=2, le=2**40, description="ids after which another file begins")
    packing: RowPacking | None = Field(
        None, description="rows: how documents share them (docs/packing.md); by default best_fit"
    )
    packing_depth: int | None = Field(None, ge=1, description="rows: most documents in one")
    long_documents: LongDocuments | None = Field(
        None,
        description="rows: documents over `sequence_length` ids, separators included, become several pieces (`fold`, "
        "the default), keep as many ids (`cut`), or are left out (`drop`)",
    )

    @override
    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.unit == "row":
            yield from self._of_rows()
            return
        if named := [name for name in sorted(self.later) if getattr(self, name) is not None]:
            yield f"{named[0]} is {getattr(self, named[0])!r}; valid with `unit: {self.unit}`: none, or `unit: row`"
        possible = "position_ids" if self.unit == "window" else "source"
        if self.columns not in ([], [possible]):
            yield f"columns are {self.columns}; valid with `unit: {self.unit}`: none, or {possible}"

    def _of_rows(self) -> Iterator[str]:
        given = {name: found for name in MaskedOptions.model_fields if (found := getattr(self, name, None))}
        columns = [name for name in self.columns if name != "source"]
        if len(columns) < len(self.columns):
            yield f"columns are {self.columns}; valid with `unit: row`: without source, of which a row has several"
        options = MaskedOptions.model_construct(None, **{**given, "columns": columns or None})
        yield from ROWS[format_of(type(self))].faults(options)


class ParquetExport(ColumnsExport):
    """Parquet with a column `input_ids` for Hugging Face `datasets`, Trainer and TRL.

    Labels are shifted in the model, so a window or a row has as many ids as the context.
    """

    format: Literal["parquet"]


class ArrowExport(ColumnsExport):
    """The same in a folder that `datasets.load_from_disk` loads."""

    format: Literal["arrow"]
