"""`datasets` of modes with a loss mask in the formats of trainers: one strict section per mode, and one for parts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator
from typing_extensions import override

from corpus_assets.config.datasets.export_options import Export, Separator
from corpus_assets.config.datasets.exports import overlap
from corpus_assets.config.datasets.files import Split
from corpus_assets.config.datasets.masked import (
    MASKED,
    LongDocuments,
    MaskedFormat,
    MaskedOptions,
    longest,
)
from corpus_assets.config.datasets.modes import (
    ChatDataset,
    FIMDataset,
    SummarizationDataset,
    SummarizationVSLDataset,
)
from corpus_assets.config.datasets.options import Reading
from corpus_assets.config.datasets.weights import Weights
from corpus_assets.config.naming import DATASET, TOKEN
from corpus_assets.config.section import Name, Section

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
}
"""Options of modes that say nothing in a trainer's format, and why."""


class Part(Section):
    """What a part of a dataset is made of: the documents of another dataset, or of a split."""

    dataset: Annotated[Name | None, DATASET] = Field(
        None, description="a dataset in a trainer's format, whose documents are used as it has them, with their mask"
    )
    input: Split | None = Field(
        None, description="or a split of the corpus, with the tokenizer of this dataset; all of it is learned"
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.dataset is None) == (self.input is None):
            raise ValueError("a part needs either dataset or input")
        return self


class MixedDataset(MaskedOptions, Reading):
    """Documents of other datasets in the same rows: texts, all of which are learned, and documents with a loss mask."""

    mode: Literal["mixed"] = Field("mixed", description="given by `parts`")
    format: MaskedFormat
    input: Literal["parts"] = Field("parts", description="given by `parts`")  # type: ignore[assignment]
    parts: dict[Name, Part] = Field(min_length=1, description="what it is made of, by names of one's choice")
    weights: Weights | None = Field(None, description="tokens by part; by default each document is used once")
    sequence_length: int = Field(2048, ge=2, le=2**20, description="most ids of a row, and of a document")
    long_documents: LongDocuments = Field(
        "fold",
        description="texts over `sequence_length` ids, separators included, become several pieces (`fold`), keep as "
        "many ids (`cut`), or are left out (`drop`)",
    )
    separator: Separator = Field("after", description="place of the separator of texts")
    separator_token: Annotated[str | None, TOKEN] = Field(
        None, description="the separator; by default end-of-text after, and begin-of-text before, if there is one"
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for problem in self._problems():
            raise ValueError(problem)
        return self

    def _problems(self) -> Iterator[str]:
        yield from MASKED[self.format].faults(self)
        if self.separator == "none" and self.separator_token is not None:
            yield f"separator_token is {self.separator_token!r}; valid with `separator: none`: none"
        if self.weights and self.weights.after is not None:
            yield f"weights.after is {self.weights.after!r}; valid with parts: none, as they are no sources"
        given = self.weights.given() if self.weights else {}
        if given and (unlike := sorted(given.keys() ^ self.parts.keys())):
            yield f"weights name {', '.join(given)}; valid: each part, which are {', '.join(self.parts)}: {unlike[0]!r}"


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

    weighs_files = True

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


def part_problems(datasets: Sequence[Any]) -> Iterator[str]:
    """Yields why datasets cannot be made of their parts. datasets: the sections of all."""
    known = {dataset.name: dataset for dataset in datasets}
    usable = [one.name for one in datasets if _has_stream(one)]
    for mixed in (one for one in datasets if isinstance(one, MixedDataset)):
        held: dict[str, str] = {}
        added: dict[str, str] = {}
        for name, part in mixed.parts.items():
            where, made_of = f"datasets: part {name!r} of {mixed.name!r}", known.get(part.dataset or "")
            if (part.dataset is not None and made_of is None) or (made_of is not None and made_of.name not in usable):
                yield (
                    f"{where} is {part.dataset!r}, which is no dataset in a trainer's format with documents of its "
                    f"own; valid: {', '.join(usable) or 'none'}"
                )
                continue
            if made_of is not None:
                yield from _problems_of_part(where, mixed, made_of)
            read = part.input if made_of is None else made_of.input
            if isinstance(made_of, MaskedDataset) and (token := getattr(made_of, "separator", None)) is not None:
                added[token] = name
            texts = read if isinstance(read, str) and not isinstance(made_of, MaskedDataset) else None
            for other, of in held.items():
                if other == part.dataset or (texts and overlap(texts, other)):
                    yield f"{where} has the same documents as part {of!r}"
            held[texts or part.dataset or ""] = name
        if len(added) > 1:
            yield (
                f"datasets: parts of {mixed.name!r} have different separators of prompts and completions: "
                f"{', '.join(f'{token!r} in {name}' for token, name in added.items())}; valid: one"
            )


def _has_stream(dataset: Any) -> bool:
    return isinstance(dataset, MaskedDataset) or (isinstance(dataset, Export) and not isinstance(dataset.input, list))


def _problems_of_part(where: str, mixed: MixedDataset, part: Any) -> Iterator[str]:
    if getattr(part, "weights", None) is not None:
        yield f"{where} has weights, which it cannot keep: its token stream is read; give them to {mixed.name!r}"
    if isinstance(part, MaskedDataset):
        room = mixed.sequence_length + MASKED[mixed.format].more_ids
        if (most := longest(part.model_dump())) > room:
            yield (
                f"{where} has documents of up to {most:,} ids, and rows hold documents of up to {room:,}: a loss mask "
                f"cannot be cut; valid: a sequence_length of {mixed.name!r} that is as large"
            )


AnyMaskedRows = MixedDataset | MaskedChat | MaskedFIM | MaskedSummarization | MaskedSummarizationVSL
