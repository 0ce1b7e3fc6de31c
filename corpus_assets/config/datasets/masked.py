"""What files of masked documents hold: one strict section per format, and what each trainer's reader makes of it.

A masked document is a list of ids of which some are learned (docs/exports.md "Masked data"). The modes make the
documents; these options say in which files, rows and columns they leave.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, Literal, NamedTuple, get_args

from pydantic import Field
from typing_extensions import override

from corpus_assets.config.datasets.export_options import Export, Separator
from corpus_assets.config.section import Bytes, Section

MaskedFormat = Literal["parquet", "arrow", "megatron_bridge", "mds", "olmo"]
MaskedMode = Literal["chat", "fim", "summarization", "summarization_vsl"]
MIXED: Final = "mixed"
"""What stands in the place of a mode where a dataset has parts."""
Unit = Literal["row", "document"]
Column = Literal["input_ids", "labels", "attention_mask", "position_ids", "seq_lengths", "loss_mask"]
ReaderName = Literal["trl", "transformers", "axolotl", "llama_factory"]
RowPacking = Literal["best_fit", "lpfhp", "nearest_previous", "first_fit_8", "first_fit_64"]
LongDocuments = Literal["fold", "cut", "drop"]
UNSHIFTED = "U: labels[i] is input_ids[i], or -100; the trainer shifts"
BORDERS: tuple[Column, ...] = ("seq_lengths", "position_ids", "attention_mask")
"""Columns of a row of several documents that say where each begins."""


class Reader(NamedTuple):
    """What a trainer reads.

    columns: those that it needs, by unit; without a unit, rows of that kind are refused, for the reason in `units`.
    refused: columns that it would misread, and why.
    """

    columns: Mapping[Unit, tuple[Column, ...]]
    refused: Mapping[Column, str] = {}
    units: str = ""


READERS: Mapping[ReaderName, Reader] = {
    "trl": Reader({"row": ("input_ids", "labels", "seq_lengths"), "document": ("input_ids", "labels")}),
    "transformers": Reader(
        {"row": ("input_ids", "labels", "position_ids"), "document": ("input_ids", "labels")},
        {"attention_mask": "with one, models do not look for documents in position_ids"},
    ),
    "axolotl": Reader(
        {"document": ("input_ids", "attention_mask", "labels")},
        units="sample_packing overwrites position_ids, so a packed row becomes one document",
    ),
    "llama_factory": Reader(
        dict.fromkeys(("row", "document"), ("input_ids", "attention_mask", "labels")),
        {
            **dict.fromkeys(
                ("seq_lengths", "loss_mask"), "it keeps columns that it does not know, and fails over them"
            ),
            "position_ids": "it pads rows to a multiple of 8 ids, and not these",
        },
    ),
}


class MaskedOptions(Section):
    """Options of files of masked documents."""

    unit: Unit | None = Field(
        None,
        description="`row`: several documents share a row of up to `sequence_length` ids; `document`: one per row; by "
        "default rows, where the format and the reader have them",
    )
    reader: ReaderName | None = Field(
        None, description="the trainer that reads the rows; what it would misread is refused"
    )
    columns: list[Column] | None = Field(None, description="columns of rows; by default those of the reader")
    file_ids: int = Field(2**27, ge=2, le=2**40, description="ids after which another file begins")
    size_limit: Bytes = Field(1 << 26, ge=1 << 10, lt=1 << 32, description="MDS: largest shard")
    packing: RowPacking = Field("best_fit", description="how documents share rows (docs/packing.md)")
    packing_depth: int | None = Field(None, ge=1, description="most documents in a row")


class MaskedExport(MaskedOptions, Export):
    """The same as writers take them, resolved: `unit` and `columns` are never None.

    units: what rows can be; the first is the default. convention: which of its ids a document trains, as files say it.
    more_ids: how many ids beyond `sequence_length` the longest document may have.
    takes: options that the format has, beside `unit`.
    long_documents: what is done with documents that are longer than a row; None where there are none.
    """

    units: ClassVar[tuple[Unit, ...]]
    more_ids: ClassVar[int] = 0
    takes: ClassVar[frozenset[str]] = frozenset()
    in_part = True
    long_documents: LongDocuments | None = None

    most_ids = 2**31

    separator: Separator = "none"
    mode: MaskedMode | Literal["mixed"]
    sequence_length: int

    @property
    @override
    def tells_learned(self) -> bool:
        return True

    @property
    @override
    def has_rows(self) -> bool:
        return self.unit == "row"

    @classmethod
    def unit_for(cls, options: MaskedOptions) -> Unit:
        """Returns what rows are."""
        if options.unit is not None:
            return options.unit
        possible = READERS[options.reader].columns if options.reader else cls.units
        return next((unit for unit in cls.units if unit in possible), cls.units[0])

    @classmethod
    def columns_for(cls, options: MaskedOptions) -> list[Column]:
        """Returns the columns of rows, where they are an option."""
        return options.columns or []

    @classmethod
    def faults(cls, options: MaskedOptions) -> Iterator[str]:
        """Yields which options say nothing here, or something that a reader would misread."""
        name = format_of(cls)
        for option in sorted(options.model_fields_set & MaskedOptions.model_fields.keys() - {"unit"} - cls.takes):
            if getattr(options, option) is not None:
                yield f"{option} is {getattr(options, option)!r}; valid with `format: {name}`: none"
        unit = cls.unit_for(options)
        if unit not in cls.units:
            yield f"unit is {unit!r}; valid with `format: {name}`: {', '.join(cls.units)}"
        if options.packing_depth is not None and (options.packing == "nearest_previous" or unit == "document"):
            yield f"packing_depth is {options.packing_depth}; valid with `unit: row`, and not with nearest_previous"


class ColumnsMasked(MaskedExport):
    """Rows with columns of one's choice."""

    units = ("row", "document")
    convention = UNSHIFTED
    takes = frozenset({"reader", "columns", "file_ids", "packing", "packing_depth"})
    usual: ClassVar[Mapping[Unit, tuple[Column, ...]]] = {
        "row": ("input_ids", "labels", "seq_lengths", "position_ids"),
        "document": ("input_ids", "labels"),
    }

    @property
    @override
    def tells_learned(self) -> bool:
        return bool({"labels", "loss_mask"} & {*(self.columns or ())})

    @classmethod
    @override
    def columns_for(cls, options: MaskedOptions) -> list[Column]:
        if options.columns is not None:
            return options.columns
        known = READERS[options.reader].columns if options.reader else cls.usual
        return list(known.get(cls.unit_for(options), ()))

    @classmethod
    @override
    def faults(cls, options: MaskedOptions) -> Iterator[str]:
        yield from super().faults(options)
        unit, columns = cls.unit_for(options), cls.columns_for(options)
        if options.reader is not None:
            yield from _misread(options.reader, unit, columns)
        if len(set(columns)) < len(columns) or "input_ids" not in columns:
            yield f"columns are {columns}; valid: each once, and input_ids among them"
        if cls.in_part and not {"labels", "loss_mask"} & {*columns}:
            yield f"columns are {columns}; valid: labels among them, else trainers learn every id; or loss_mask"
        if unit == "row" and not {*BORDERS} & {*columns}:
            yield f"columns are {columns}; valid with `unit: row`: one of {', '.join(BORDERS)}, or documents are one"
        if unit == "document" and (more := [name for name in ("seq_lengths", "position_ids") if name in columns]):
            yield f"columns are {columns}; valid with `unit: document`: without {', '.join(more)}, which say nothing"


class ParquetMasked(ColumnsMasked):
    """Parquet rows for Hugging Face `datasets`, TRL, transformers and axolotl."""

    format: Literal["parquet"]

    @classmethod
    @override
    def faults(cls, options: MaskedOptions) -> Iterator[str]:
        yield from super().faults(options)
        if options.reader == "llama_factory":
            yield "reader is 'llama_factory', which loads folders of `datasets`; valid: `format: arrow`"


class ArrowMasked(ColumnsMasked):
    """A folder that `datasets.load_from_disk` loads, such as LLaMA-Factory's `tokenized_path`."""

    usual: ClassVar[Mapping[Unit, tuple[Column, ...]]] = {
        "row": ("input_ids", "attention_mask", "labels", "position_ids"),
        "document": ("input_ids", "attention_mask", "labels"),
    }

    format: Literal["arrow"]


class ParquetRows(ParquetMasked):
    """Parquet rows of texts."""

    in_part = False
    separator: Separator = "after"
    long_documents: LongDocuments = "fold"


class ArrowRows(ArrowMasked):
    """The same in a folder that `datasets.load_from_disk` loads."""

    in_part = False
    separator: Separator = "after"
    long_documents: LongDocuments = "fold"


class BridgeMasked(MaskedExport):
    """Packed Parquet rows for Megatron-Bridge and NeMo."""

    units = ("row",)
    convention = "P: loss_mask[i] is 1 if the id after input_ids[i] is learned; 0 for the last of each document"
    more_ids = 1
    takes = frozenset({"file_ids", "packing", "packing_depth"})

    format: Literal["megatron_bridge"]


class MdsMasked(MaskedExport):
    """MDS with a column `turns` for llm-foundry."""

    units = ("document",)
    convention = "runs: labels of a turn are the ids that are learned after its input_ids; the trainer joins and shifts"
    takes = frozenset({"size_limit"})

    format: Literal["mds"]


class OlmoMasked(MaskedExport):
    """Token files with a mask beside each, for OLMo-core and open-instruct."""

    units = ("document",)
    convention = "T: the mask of an id is True if it is learned; the trainer shifts"
    takes = frozenset({"file_ids"})

    format: Literal["olmo"]


def _misread(name: ReaderName, unit: Unit, columns: list[Column]) -> Iterator[str]:
    """Yields what a reader would drop that it needs, or take for something else."""
    reader = READERS[name]
    if unit not in reader.columns:
        yield f"unit is {unit!r}; valid with `reader: {name}`: {', '.join(reader.columns)}, since {reader.units}"
        return
    if missing := [column for column in reader.columns[unit] if column not in columns]:
        yield f"columns are {columns}; `reader: {name}` needs {', '.join(missing)} too"
    for column in columns:
        if column in reader.refused:
            yield f"columns are {columns}; valid with `reader: {name}`: without {column}: {reader.refused[column]}"


_ALL: tuple[type[MaskedExport], ...] = (ParquetMasked, ArrowMasked, BridgeMasked, MdsMasked, OlmoMasked)
MASKED: Mapping[str, type[MaskedExport]] = {
    get_args(section.model_fields["format"].annotation)[0]: section for section in _ALL
}
"""The section of every format that holds masked documents, by its name in corpus.yaml."""
MODES: tuple[str, ...] = get_args(MaskedMode)


ROWS: Mapping[str, type[MaskedExport]] = {"parquet": ParquetRows, "arrow": ArrowRows}
"""The section of rows of texts of every format that has them, by its name in corpus.yaml."""


def format_of(section: type[Export]) -> str:
    """Returns the name of a format in corpus.yaml."""
    name: str = get_args(section.model_fields["format"].annotation)[0]
    return name


def is_masked(entry: Mapping[str, Any]) -> bool:
    """Returns whether an entry of `datasets` holds documents with a loss mask in a format of trainers."""
    return entry.get("mode") in (*MODES, MIXED) and entry.get("format") in (*MASKED,)


def has_parts(entry: Mapping[str, Any]) -> bool:
    """Returns whether an entry of `datasets` is made of the token streams of others."""
    return entry.get("mode") == MIXED


def longest(entry: Mapping[str, Any]) -> int:
    """Returns how many ids a document of an entry may have."""
    return int(entry["sequence_length"]) + MASKED[entry["format"]].more_ids


def masked_section(values: Mapping[str, Any]) -> MaskedExport:
    """Returns the section for values that were checked before, or for the part of them that files depend on."""
    known = (MASKED if is_masked(values) else ROWS)[values["format"]]
    read = known.model_fields.keys() - ({"separator"} if known.in_part else set())
    given = {key: value for key, value in values.items() if key in read and value is not None}
    options = MaskedOptions.model_construct(None, **{**given, "columns": given.get("columns") or None})
    resolved = {"unit": known.unit_for(options), "columns": known.columns_for(options)}
    return known.model_construct(None, **{**given, **resolved})
