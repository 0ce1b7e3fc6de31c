"""The tokenizer sections of `corpus.yaml`, one per kind."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from corpus_assets.config.naming import FILE, TOKEN
from corpus_assets.config.section import Bytes, LocalPath, Section, Template


class _Tokenizer(Section):
    backend: Literal["auto", "tokenizers", "fastokens", "gigatoken"] = Field(
        "auto",
        description="library that encodes texts; `auto`: the fastest that is proved to give equal ids, which "
        "never depend on it",
    )
    chat_template: Annotated[Template | None, FILE] = Field(
        None,
        description="a chat template (jinja), its path, or the name of a ready one; by default the tokenizer's own",
    )


class _Ending(_Tokenizer):
    eos: Annotated[str | int | None, TOKEN] = Field(
        None, description="end-of-text token or its id; by default the tokenizer's own"
    )
    pad: Annotated[str | int | None, TOKEN] = Field(
        None, description="padding token or its id; by default eos if that is given, else the tokenizer's own, else eos"
    )
    special_tokens_in_text: bool = Field(
        False, description="whether `<|endoftext|>` in a text becomes the id of that token"
    )


class TrainedTokenizer(_Tokenizer):
    """A byte-level BPE trained on the train split, once."""

    kind: Literal["train"] = "train"
    vocabulary: int = Field(8192, ge=260, le=2**20, description="number of tokens, special ones included")
    special_tokens: list[str] = Field(
        default=[], max_length=64, description="control tokens in addition to `<|endoftext|>` and `<|padding|>`"
    )
    sample: Bytes = Field(8 << 20, description="bytes of text to train on, chosen by keyed hash")
    seed: int = Field(0, ge=0, lt=2**63)
    generation: int = Field(
        1, ge=1, description="raise it to train again; otherwise the tokenizer is kept, even if the corpus changes"
    )


class TokenizerFile(_Ending):
    """Any `tokenizer.json` of the tokenizers library; files in its folder declare its special tokens."""

    kind: Literal["tokenizer_json"]
    path: Annotated[LocalPath, FILE] = Field(description="path of the tokenizer.json")


class Gpt2Tokenizer(_Tokenizer):
    """GPT-2's two files. Padding is always the end-of-text token, and no control token is found in a text."""

    kind: Literal["gpt2"]
    merges: Annotated[LocalPath, FILE] = Field(description="path of vocab.bpe")
    encoder: Annotated[LocalPath, FILE] = Field(description="path of encoder.json")
    eos: Annotated[str | int | None, TOKEN] = Field(
        None, description="end-of-text token or its id; by default `<|endoftext|>`"
    )


class NeoxTokenizer(_Ending):
    """GPT-NeoX's one file, with an optional tokenizer_config.json."""

    kind: Literal["neox"]
    path: Annotated[LocalPath, FILE] = Field(description="path of the encoder file (a tokenizers-library JSON)")
    config: Annotated[LocalPath | None, FILE] = Field(
        None, description="path of tokenizer_config.json; by default the one in the folder of the file, if there is one"
    )


class HuggingFaceFolder(_Ending):
    """A folder in which transformers saved a tokenizer."""

    kind: Literal["huggingface"]
    path: Annotated[LocalPath, FILE] = Field(
        description="path of the folder: tokenizer.json, else tokenizer.model or spiece.model, else vocab.json and "
        "merges.txt; tokenizer_config.json, special_tokens_map.json and chat_template.jinja are read too. T5 has "
        "the ids of transformers' fast class",
    )


class SentencePieceModel(_Ending):
    """A SentencePiece model, encoded by that library."""

    kind: Literal["sentencepiece"]
    path: Annotated[LocalPath, FILE] = Field(
        description="path of the .model; tokenizer_config.json in its folder sets tokens around a text"
    )


class HubTokenizer(_Ending):
    """A tokenizer of the Hugging Face hub, downloaded once; a token for gated ones is taken from HF_TOKEN."""

    kind: Literal["hub"]
    name: Annotated[str, FILE] = Field(
        min_length=1, description="name of the repository, such as `openai-community/gpt2`"
    )
    revision: Annotated[str, FILE] = Field(
        "main", min_length=1, description="branch, tag or commit; a commit never changes"
    )


class Vocabulary(Section):
    """A vocabulary of ids without texts, for files of ids whose tokenizer is not at hand (docs/token-files.md).

    Its tokens are called `<0>`, `<1>` and so on.
    """

    kind: Literal["ids"]
    vocabulary: int = Field(ge=1, le=2**24, description="number of ids, all of which are less")
    eos: int | None = Field(None, ge=0, description="end-of-text id")
    pad: int | None = Field(None, ge=0, description="padding id; by default eos")
    bos: int | None = Field(None, ge=0, description="begin-of-text id")

    @model_validator(mode="after")
    def _possible(self) -> "Vocabulary":
        for name in ("eos", "pad", "bos"):
            if (found := getattr(self, name)) is not None and found >= self.vocabulary:
                raise ValueError(f"{name} is {found}; valid: less than vocabulary, {self.vocabulary}")
        if self.eos is None and self.pad is None:
            raise ValueError("eos and pad are missing; give one of them")
        return self


Tokenizer = Annotated[
    TrainedTokenizer
    | TokenizerFile
    | Gpt2Tokenizer
    | NeoxTokenizer
    | HuggingFaceFolder
    | SentencePieceModel
    | HubTokenizer
    | Vocabulary,
    Field(discriminator="kind"),
]
