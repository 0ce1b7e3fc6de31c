"""An entry of `datasets` of `corpus.yaml`: rows in HDF5 by mode, or files in a trainer's format, of texts or masked."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Discriminator, Field, Tag

from corpus_assets.config.datasets.cerebras_names import clear_names, mode_named, without_unread
from corpus_assets.config.datasets.exports import EXPORTS, HDF5, AnyExport, is_export, of_texts
from corpus_assets.config.datasets.masked import MASKED, MIXED, is_masked
from corpus_assets.config.datasets.masked_modes import AnyMaskedRows
from corpus_assets.config.datasets.modes import SECTIONS, AnyRows, LMDataset
from corpus_assets.config.datasets.text_exports import TEXT, TextExport, is_text
from corpus_assets.config.datasets.token_files import reads_tokens

_CEREBRAS_NAMES = {section.cerebras_name: mode for mode, section in SECTIONS.items() if section.cerebras_name}
_PACKED_BY_TEXT = [mode for mode, section in SECTIONS.items() if "packing_text" in section.cerebras_values]


def _named(entry: Any) -> Any:
    """Returns an entry of `datasets` with our names and a mode, on top of the values of its profile."""
    if not isinstance(entry, dict):
        if isinstance(entry, BaseModel):
            return entry
        raise ValueError("a mapping with at least `name`")
    if "parts" in entry:
        entry = {"mode": MIXED, **entry}
        if entry["mode"] != MIXED:
            raise ValueError(f"mode is {entry['mode']!r}; valid with parts: none")
        if not is_masked(entry):
            raise ValueError(f"format is {entry.get('format')!r}; valid with parts: {', '.join(MASKED)}")
    if is_masked(entry):
        return entry
    if is_export(entry):
        return of_texts(entry)
    if is_text(entry):
        return entry
    if entry.get("format", HDF5) != HDF5:
        valid = ", ".join([HDF5, *dict.fromkeys((*EXPORTS, *MASKED)), TEXT])
        raise ValueError(f"format is {entry['format']!r}; valid: {valid}")
    mode = mode_named(entry.get("mode", "lm"), _CEREBRAS_NAMES)
    section = SECTIONS.get(mode) if isinstance(mode, str) else None
    if section is None or section.cerebras_name is None or entry.get("compat") != "cerebras":
        return {"mode": "lm", **clear_names(entry, _CEREBRAS_NAMES, _PACKED_BY_TEXT)}
    entry = without_unread(entry, section.model_fields.keys() - section.cerebras_ignores)
    named = {**section.cerebras_values, "mode": "lm", **clear_names(entry, _CEREBRAS_NAMES, _PACKED_BY_TEXT)}
    if isinstance(named.get("input"), dict) and not reads_tokens(named):
        named["input"] = {**section.cerebras_files, **named["input"]}
    return named


def _family(value: Any) -> str:
    """Returns the family of an entry. With a space it is no key: places of faults name both."""
    entry = value if isinstance(value, dict) else dict(value)
    if is_masked(entry):
        return "of masked rows"
    return "of an export" if is_export(entry) else "of texts" if is_text(entry) else "of rows"


Dataset = Annotated[
    Annotated[Annotated[AnyRows, Field(discriminator="mode")], Tag("of rows")]
    | Annotated[Annotated[AnyMaskedRows, Field(discriminator="mode")], Tag("of masked rows")]
    | Annotated[Annotated[AnyExport, Field(discriminator="format")], Tag("of an export")]
    | Annotated[TextExport, Tag("of texts")],
    Discriminator(_family),
    BeforeValidator(_named),
]


def default_datasets() -> list[Dataset]:
    """Returns train without the holdout's texts, validation and test."""
    return [
        LMDataset(name="train", input="decontaminated_train"),
        LMDataset(name="validation", input="validation"),
        LMDataset(name="test", input="test"),
    ]
