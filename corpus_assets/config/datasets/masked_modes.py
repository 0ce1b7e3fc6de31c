"""`datasets` of modes with a loss mask in the formats of trainers: one strict section per mode."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from typing_extensions import override

from corpus_assets.config.datasets.masked import MASKED, MaskedFormat, MaskedOptions
from corpus_assets.config.datasets.modes import (
    ChatDataset,
    FIMDataset,
    SummarizationDataset,
    SummarizationVSLDataset,
)

_OF_HDF5 = "it is about rows in HDF5"
UNREAD: Mapping[str, str] = {
    "compat": _OF_HDF5,
    "inverted_mask": "each format has one meaning of its mask",
    "keep_empty": "a document without ids has nothing to learn",
    "keep_tail": "documents are not cut",
    "pack": "`unit` says whether documents share rows",
    "pack_over_files": "each file is packed by itself",
    "packing_text": _OF_HDF5,
    "packing_window": "the documents of a partition are packed together",
    "short_sequence_draws": "documents are not cut",
    "short_sequence_probability": "documents are not cut",
    "shuffle": "trainers shuffle rows",
    "shuffle_seed": "trainers shuffle rows",
    "weights": "documents are used as they are",
}
"""Options of modes that say nothing in a trainer's format, and why."""


class MaskedDataset(MaskedOptions):
    """Documents with a loss mask in a format of trainers. unread: options that say nothing here."""

    unread: ClassVar[Mapping[str, str]] = UNREAD

    format: MaskedFormat


class MaskedChat(MaskedDataset, ChatDataset):
    """Conversations through a chat template. What is learned: as with `format: hdf5`."""

    @override
    def problems(self) -> Iterator[str]:
        yield from (*_problems(self), *super().problems())


class MaskedFIM(MaskedDataset, FIMDataset):
    """Documents with their middle at the end, all of which is learned. One that is too long becomes several."""

    @override
    def problems(self) -> Iterator[str]:
        yield from (*_problems(self), *super().problems())
        if self.fim_level == "row":
            yield f"fim_level is 'row'; valid with `format: {self.format}`: document"


class MaskedSummarization(MaskedDataset, SummarizationDataset):
    """Pairs of prompt and completion, each a document, of which the completion is learned."""

    @override
    def problems(self) -> Iterator[str]:
        yield from (*_problems(self), *super().problems())


class MaskedSummarizationVSL(MaskedDataset, SummarizationVSLDataset):
    """Whole conversations of pairs, each a document, of which completions are learned."""

    @override
    def problems(self) -> Iterator[str]:
        yield from (*_problems(self), *super().problems())


def _problems(section: MaskedDataset) -> Iterator[str]:
    """Yields what says nothing in a trainer's format, and what a reader would misread."""
    for name in sorted(section.model_fields_set & UNREAD.keys()):
        if getattr(section, name) != type(section).model_fields[name].get_default(call_default_factory=True):
            yield f"{name} is not valid with `format: {section.format}`: {UNREAD[name]}"
    yield from MASKED[section.format].faults(section)


AnyMaskedRows = MaskedChat | MaskedFIM | MaskedSummarization | MaskedSummarizationVSL
