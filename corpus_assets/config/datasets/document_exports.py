"""`datasets` of `corpus.yaml` in formats that hold whole documents: one strict section per format."""

from collections.abc import Iterator, Set
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from corpus_assets.config.datasets.export_options import Export, FileName, Separator
from corpus_assets.config.naming import TOKEN


class MegatronExport(Export):
    """Whole documents for Megatron-LM, NeMo and gpt-neox: `.bin` and `.idx` for each chunk.

    Trainers cut the documents themselves, so windows cannot be chosen here.
    """

    format: Literal["megatron"]


class RaggedExport(Export):
    """Ragged arrays: `.data.npy`, the ids of all documents, and `.len.npy`, how many each has, for each chunk or file.

    Files are numbered, `PREFIX.00000-of-00003.data.npy`, so one worker writes those of a dataset with files of its own.
    """

    keeps_empty = True

    format: Literal["ragged"]
    separator: Separator = Field("none", description="place of the separator of documents")
    prefix: FileName | None = Field(
        None,
        description="beginning of file names; by default `<dataset>-<split>`, and `<dataset>` for files of its own",
    )
    context_length: int | None = Field(
        None, ge=1, lt=2**31, description="cut documents into pieces of at most so many ids; the last keeps the rest"
    )
    bos_id: int | None = Field(
        None, ge=0, lt=2**31, description="with `context_length`, which counts it: put this id before every piece"
    )
    compat: Literal["pre_tokenize"] | None = Field(
        None,
        description="as Birch-san/pre-tokenize: ids int16, lengths int32, and int16 with `context_length`; the numbers "
        "in names of files of its own, and the ids of T5 with `legacy=False`",
    )

    @override
    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.bos_id is not None and (self.context_length or 0) < 2:
            yield f"bos_id is {self.bos_id} with context_length {self.context_length}; valid: a length of 2 or more"
        if self.context_length is not None and self.separator != "none":
            yield f"separator is {self.separator!r} with context_length; valid: `none`, and `bos_id` before every piece"
        if self.compat and (self.context_length or 0) >= 2**15:
            yield f"context_length is {self.context_length} with compat: pre_tokenize; valid: at most 32767"


class OlmoExport(Export):
    """Whole documents for OLMo-core: ids without a header in `.npy`, and where each document lies in `.csv.gz`."""

    later: ClassVar[Set[str]] = frozenset({"bos_token", "compat"})

    format: Literal["olmo"]
    file_ids: int = Field(
        2**29, ge=1, lt=2**40, description="most ids of a file, unless one document is longer; trainers lose each tail"
    )
    bos_token: Annotated[str | None, TOKEN] = Field(
        None, min_length=1, description="a token before each document, beside the separator after it"
    )
    compat: Literal["dolma"] | None = Field(
        None,
        description="documents of `dolma tokens`: without white space at both ends of a text, and without a "
        "second separator if a text begins or ends with it",
    )

    @property
    @override
    def first_token(self) -> str | None:
        return self.bos_token

    @property
    @override
    def keeps_own_separators(self) -> bool:
        return self.compat == "dolma"

    @override
    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.bos_token is not None and self.separator != "after":
            yield f"bos_token goes with `separator: after`, received {self.separator!r}"


class LlmcExport(Export):
    """The stream of all ids for llm.c, modded-nanogpt and NeMo Automodel, cut into files of equal size."""

    format: Literal["llmc"]
    separator: Separator = Field("before", description="place of the separator of documents")
    header: Literal["gpt2", "llama3", "automodel"] = Field(
        "gpt2",
        description="`gpt2`: ids uint16; `llama3`: uint32; `automodel`: NeMo Automodel's newer one, by vocabulary",
    )
    part: Literal["train", "val", "both"] | None = Field(
        None,
        description="which part files are; by default `val` for the splits holdout, validation and test; `both`: the "
        "first file is `val`, the others are `train`",
    )
    prefix: FileName | None = Field(None, description="beginning of file names; by default the dataset's name")
    shard_ids: int = Field(10**8, ge=1, lt=2**31, description="ids of a file; a document may go on in the next one")


class NanogptExport(Export):
    """The stream of all ids for nanoGPT: one `train.bin` or `val.bin`, uint16 without a header."""

    most_ids = 2**16

    format: Literal["nanogpt"]
    part: Literal["train", "val"] | None = Field(
        None, description="which file it is; by default `val` for the splits holdout, validation and test"
    )


class TorchtitanExport(Export):
    """Whole documents for torchtitan: `tokens.bin`, all ids as uint32, and `document_offsets.npy`."""

    format: Literal["torchtitan"]


class DatatroveExport(Export):
    """Whole documents as datatrove stores them, for nanotron: `.ds`, `.ds.index` and `.ds.metadata`."""

    format: Literal["datatrove"]
    file_ids: int | None = Field(
        None,
        ge=1,
        lt=2**40,
        description="most ids of a file, unless one document is longer; by default one file per chunk or input file",
    )
    tokenizer_name: str | None = Field(
        None,
        pattern=r"^[^|\r\n]+$",
        max_length=200,
        description="name of the tokenizer in the metadata; by default its kind and digest",
    )
