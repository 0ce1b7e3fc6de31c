"""`datasets` of `corpus.yaml` in the formats of trainers: all sections, and functions over them.

All are made from one token stream, the ids of whole documents (docs/exports.md). `corpus_assets/export/formats` writes
the files, with a module per format.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from corpus_assets.config.datasets.amber_exports import AmberExport
from corpus_assets.config.datasets.document_exports import (
    DatatroveExport,
    LlmcExport,
    MegatronExport,
    NanogptExport,
    OlmoExport,
    RaggedExport,
    TorchtitanExport,
)
from corpus_assets.config.datasets.export_options import Export
from corpus_assets.config.datasets.masked import MASKED, MODES, format_of, is_masked, masked_section
from corpus_assets.config.datasets.window_exports import (
    ArrowExport,
    LitdataExport,
    MdsExport,
    ParquetExport,
)

HDF5 = "hdf5"
AnyExport = (
    MegatronExport
    | RaggedExport
    | OlmoExport
    | LlmcExport
    | NanogptExport
    | TorchtitanExport
    | DatatroveExport
    | MdsExport
    | LitdataExport
    | ParquetExport
    | ArrowExport
    | AmberExport
)
EXPORTS: Mapping[str, type[Export]] = {
    get_args(section.model_fields["format"].annotation)[0]: section for section in get_args(AnyExport)
}
"""The section of every format, by its name in corpus.yaml."""


def mix_problems(datasets: Sequence[Any]) -> Iterator[str]:
    """Yields why mixes cannot be made of the datasets that they name. datasets: the sections of all."""
    known = {dataset.name: dataset for dataset in datasets}
    for mix in (dataset for dataset in datasets if isinstance(dataset.input, list)):
        splits: dict[str, str] = {}
        for name in (name for one in mix.input for name in one.datasets):
            part = known.get(name)
            if not isinstance(part, Export) or isinstance(part.input, list):
                valid = [one.name for one in datasets if isinstance(one, Export) and not isinstance(one.input, list)]
                yield (
                    f"datasets: {mix.name!r} mixes {name!r}, which is no dataset in a trainer's format with documents "
                    f"of its own; valid: {', '.join(valid) or 'none'}"
                )
            elif part.tokenizer != mix.tokenizer:
                yield f"datasets: {mix.name!r} mixes {name!r}, which has another tokenizer; give both the same"
            elif part.weights is not None:
                yield f"datasets: {mix.name!r} mixes {name!r}, whose weights it cannot keep: it reads its token stream"
            elif isinstance(part.input, str):
                if other := next((one for split, one in splits.items() if overlap(split, part.input)), None):
                    yield f"datasets: {mix.name!r} mixes {other!r} and {name!r}, which hold the same documents"
                splits[part.input] = name


def overlap(split: str, other: str) -> bool:
    """Returns whether two splits have documents in common: the same, or one made of the other."""
    made_of = {"decontaminated_train": "train", "validation": "holdout", "test": "holdout"}
    return split == other or made_of.get(split) == other or made_of.get(other) == split


def is_export(entry: Mapping[str, Any]) -> bool:
    """Returns whether an entry of `datasets` is in a format of trainers, which is made of a token stream."""
    return entry.get("format", HDF5) in (*EXPORTS, *MASKED)


def makes_as_dolma(entry: Mapping[str, Any]) -> bool:
    """Returns whether the documents of an entry of `datasets` are those of `dolma tokens`."""
    return entry.get("compat") == "dolma"


def keeps_empty(entry: Mapping[str, Any]) -> bool:
    """Returns whether rows of own files whose text is empty are documents of an entry of `datasets`."""
    return is_export(entry) and not is_masked(entry) and (EXPORTS[entry["format"]].keeps_empty or makes_as_dolma(entry))


def of_texts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of an export without its mode.

    ValueError for a mode that does not hold plain texts, and for windows in a format of whole documents.
    """
    mode, name = entry.get("mode", "lm"), entry["format"]
    valid = [*(["none"] if name in EXPORTS else []), *(MODES if name in MASKED else [])]
    if mode != "lm" or name not in EXPORTS:
        raise ValueError(f"mode is {mode!r}; valid with `format: {name}`: {', '.join(valid)}")
    if "sequence_length" in entry and "sequence_length" not in EXPORTS[name].model_fields:
        why = "its key is window" if name == "amber" else "it holds documents uncut: the trainer cuts them"
        raise ValueError(f"sequence_length is not valid with `format: {name}`: {why}")
    return {key: value for key, value in entry.items() if key != "mode"}


def format_name(section: Export) -> str:
    """Returns the name of a section's format in corpus.yaml."""
    return format_of(type(section))


def export_section(values: Mapping[str, Any]) -> Export:
    """Returns the section for values that were checked before, or for the part of them that files depend on."""
    if is_masked(values) or shares_rows(values):
        return masked_section(values)
    return EXPORTS[values["format"]].model_construct(None, **values)


def shares_rows(entry: Mapping[str, Any]) -> bool:
    """Returns whether documents of an entry of `datasets`, all of which are learned, share rows."""
    return is_export(entry) and not is_masked(entry) and entry.get("unit") == "row"
