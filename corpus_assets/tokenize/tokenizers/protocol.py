"""The interface of tokenizers for the modes of datasets, independent of the library."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.ragged import Ids, Ragged


class Tokenizer(Protocol):
    """Texts to ids and back. Results depend on the tokenizer's files and options alone."""

    @property
    def kind(self) -> str:
        """The kind of files it was made from: `gpt2`, `neox`, `tokenizer_json`, `huggingface` or `sentencepiece`."""

    @property
    def vocab_size(self) -> int:
        """Number of entries, added tokens included."""

    @property
    def eos_id(self) -> int | None:
        """End-of-text id, None if there is none."""

    @property
    def pad_id(self) -> int:
        """Id on padding."""

    @property
    def bos_id(self) -> int | None:
        """Begin-of-text id, None if there is none."""

    @property
    def adds_bos(self) -> bool:
        """True if `encode_batch` puts a begin-of-text id before every text."""

    @property
    def bos_by_setting(self) -> bool:
        """True if a setting says that texts begin with the begin-of-text id: `add_bos_token` of transformers."""

    @property
    def digest(self) -> str:
        """32 hex digits; equal digests give equal texts of equal ids."""

    @property
    def encoding_digest(self) -> str:
        """32 hex digits; equal ones give equal ids of equal texts, too."""

    @property
    def chat_template(self) -> str | None:
        """The tokenizer's own chat template (jinja), if it has one."""

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Ids of the control tokens by content: those that `encode_trusted` finds in a text."""

    @property
    def added_tokens(self) -> Mapping[str, int]:
        """Ids of all tokens that are found as a whole in a text: the control tokens, and others such as `<think>`."""

    @property
    def strips(self) -> Mapping[str, tuple[bool, bool]]:
        """Whether white space before and after a token goes with it, for those added tokens with which some goes."""

    @property
    def after_control(self) -> "Tokenizer":
        """The tokenizer of plain text that follows a control token; itself, unless it begins whole texts with a space.

        A tokenizer that puts a space before every text also puts it after each control token.
        """

    @property
    def template_values(self) -> Mapping[str, Any]:
        """Values that a chat template may name beside the messages: `bos_token`, `eos_token`, ... as strings."""

    def encode_batch(self, texts: Sequence[str]) -> Ragged:
        """Returns the ids of every text, with the begin-of-text id or other ids that the tokenizer puts around a text.

        Control tokens spelled in a text are plain text, unless the tokenizer was made to match them.
        """

    def encode_plain(self, texts: Sequence[str]) -> Ragged:
        """Returns the ids of the texts alone: nothing is put around them, control tokens in them are plain text."""

    def encode_trusted(self, text: str, *, bos: bool = True) -> Ids:
        """Returns ids of a text made from a template: control tokens are matched; `bos`: with the ids around it."""

    def encode_offsets(self, text: str) -> tuple[Ids, NDArray[np.int64]]:
        """Returns `encode_plain` of one text, and for every id the code point of the text where its token starts."""

    def token_id(self, token: str) -> int | None:
        """Returns the id of an entry of the vocabulary, added tokens included."""

    def decode(self, ids: Sequence[int] | NDArray[np.integer]) -> str:
        """Returns the text of the ids, control tokens included."""

    def with_token(self, token: str) -> "Tokenizer":
        """Returns this tokenizer if it has the token, else one with it as a control token under the next free id."""

    def text_sizes(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Returns UTF-8 bytes and code points of every id's text, by id (vocab_size,): what it adds to a decoded text.

        A token that ends inside a character counts the bytes it holds; the character belongs to its first byte.
        """


class Identity(NamedTuple):
    """What files about datasets say of a tokenizer; members as of `Tokenizer`."""

    kind: str
    digest: str
    vocab_size: int
    eos_id: int | None
    bos_id: int | None
    pad_id: int

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> "Identity":
        """Returns that of a tokenizer."""
        return cls(*(getattr(tokenizer, name) for name in cls._fields))
