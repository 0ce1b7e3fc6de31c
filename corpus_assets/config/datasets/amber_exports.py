"""`datasets` of `corpus.yaml` in Amber's format: windows of sources, mixed."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator
from typing_extensions import override

from corpus_assets.config.datasets.export_options import Export
from corpus_assets.config.datasets.files import Files, Split, container
from corpus_assets.config.datasets.token_files import TokenFiles
from corpus_assets.config.naming import DATASET
from corpus_assets.config.own_files import OwnFiles
from corpus_assets.config.section import Name, Section

SourceName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_][\w.-]*(/[A-Za-z0-9_][\w.-]*)*$", max_length=200, examples=["redpajama_v1/c4"])
]
"""A name of a source, which may be a path, since a file gets it."""


class AmberSet(Section):
    """A set of windows of an Amber mix; each set is distributed over the files separately."""

    source: SourceName = Field(
        description="its name, which is in every line and in the name of its file of validation windows"
    )
    datasets: Annotated[list[Name], Field(min_length=1), DATASET] = Field(
        description="datasets in formats of trainers; windows are cut from each separately, one dataset after another"
    )


def _amber_input(value: Any) -> str:
    return "sets" if isinstance(value, list) else container(value)


AmberInput = Annotated[
    Annotated[Split, Tag("split")]
    | Annotated[Files, Tag("files")]
    | Annotated[TokenFiles, Tag("tokens")]
    | Annotated[list[AmberSet], Field(min_length=1), Tag("sets")],
    Discriminator(_amber_input),
]


class AmberExport(Export):
    """Windows of a fixed number of ids as JSON lines, mixed as LLM360's Amber data.

    The documents of each source are one stream, which is cut into windows (docs/formats/trainers.md "Amber"). Some
    windows of each source are kept for validation, the others go to the files round robin.
    """

    keeps_empty = True

    format: Literal["amber"]
    compat: Literal["amber"] | None = Field(
        None, description="files of amber-data-prep; sets `shuffle: false` and `draw: python`"
    )
    # Other exports read a split or files; only this one mixes other datasets.
    input: AmberInput = Field(  # type: ignore[assignment]
        "decontaminated_train",
        description="a split of the corpus, files of its own, or a list of sets made from other datasets",
    )
    source: SourceName | None = Field(
        None, description="with files of its own: name of the source in every line; by default that of the dataset"
    )
    window: int = Field(2049, ge=1, le=2**20, description="ids per window: those of a sequence and the last label")
    bos_text: str | None = Field(
        None, min_length=1, max_length=1000, description="text whose ids stand before each document"
    )
    eos_text: str | None = Field(
        None, min_length=1, max_length=1000, description="text whose ids stand after each document, such as `</s>`"
    )
    wrap: bool = Field(
        True,
        description="windows continue over documents; otherwise each window begins a document, and "
        "remaining ids are dropped",
    )
    chunks: int = Field(360, ge=1, le=100_000, description="number of training files")
    validation: int = Field(0, ge=0, le=2**31, description="windows of each source for validation")
    uneven_chunks: bool = Field(
        False, description="also use windows that make files differ in size by one; otherwise these are left out"
    )
    shuffle: bool = Field(
        True, description="permute the lines of each training file by a hash; otherwise source by source"
    )
    draw: Literal["keyed", "python"] = Field(
        "keyed", description="validation windows by a hash, or by Python's `random.sample`, source after source"
    )
    seed: int = Field(0, ge=0, lt=2**63, description="seed of validation windows and shuffling")
    compression: Literal["none", "gzip"] = Field("none", description="`gzip`: the files are `.jsonl.gz`")

    @property
    @override
    def separator_texts(self) -> tuple[str | None, str | None] | None:
        """Returns `bos_text` and `eos_text`, if either is given."""
        return None if self.bos_text is self.eos_text is None else (self.bos_text, self.eos_text)

    @property
    def has_valid_files(self) -> bool:
        """Returns whether each source has a file of validation windows; in a mix of amber-data-prep it may be empty."""
        return self.validation > 0 or (self.compat == "amber" and isinstance(self.input, list))

    @property
    @override
    def more_parameters(self) -> Mapping[str, Any]:
        return {} if self.validation or not self.has_valid_files else {"empty_valid_files": True}

    @model_validator(mode="before")
    @classmethod
    def _compatible(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("compat") == "amber":
            return {"shuffle": False, "draw": "python", **values}
        return values

    @override
    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.separator_texts and (self.separator != "after" or self.separator_token is not None):
            yield "`bos_text` and `eos_text` stand in place of a separator; valid with them: no option `separator`"
        if self.source is not None and not isinstance(self.input, OwnFiles):
            yield f"source is {self.source!r}; valid with files of its own: documents of a split, and sets, have theirs"
        if isinstance(self.input, list):
            if self.weights:
                yield "weights are of the sources of one token stream, and a mix has several; leave them out"
            if self.ftfy or self.wikitext:
                yield "texts of a mix are cleaned as the datasets say that it is made of; leave out ftfy and wikitext"
            sources = [one.source for one in self.input]
            if twice := next((name for name in sources if sources.count(name) > 1), None):
                yield f"source {twice!r} is named twice; names must differ"
            named = [name for one in self.input for name in one.datasets]
            if twice := next((name for name in named if named.count(name) > 1), None):
                yield f"dataset {twice!r} is in two sets, so its windows would be in validation and in training"
