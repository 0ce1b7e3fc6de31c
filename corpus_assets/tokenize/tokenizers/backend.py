"""The backend of a tokenizer: texts to ids and back, without end, padding or options."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.tokenizers.files import AddedToken
from corpus_assets.tokenize.tokenizers.token_sizes import Sizes

Around = tuple[tuple[int, ...], tuple[int, ...]]


class TokenizerBackend(Protocol):
    """The interface of a tokenizer library."""

    @property
    def definition(self) -> str | None:
        """The `tokenizer.json` of this backend for text in which control tokens are plain, if it has one."""

    @property
    def tokens(self) -> Sequence[str | None]:
        """Every token by id; None where an id has no token. Its length is the largest id plus one."""

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Ids of the control tokens by content."""

    @property
    def added_tokens(self) -> Mapping[str, int]:
        """Ids of all tokens that are found as a whole before the model sees a text, control tokens among them."""

    @property
    def around(self) -> Around:
        """Ids that are put before and after a text."""

    def encode(self, texts: Sequence[str], *, around: bool, matched: bool) -> Ragged:
        """Returns ids of the texts; `around`: with the ids around each; `matched`: control tokens in them are found."""

    def encode_offsets(self, text: str) -> tuple[Ids, NDArray[np.int64]]:
        """Returns the plain ids of a text, and the code point where each begins."""

    def token_id(self, token: str) -> int | None:
        """Returns the id of a token, added ones included."""

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the text of the ids, control tokens included."""

    def text_sizes(self) -> Sizes:
        """Returns the bytes and code points of every id's text."""

    def with_added(self, tokens: Sequence[AddedToken]) -> "TokenizerBackend":
        """Returns this backend with more tokens, under the next free ids; a known one may become a control token."""

    def with_control(self, tokens: Collection[str]) -> "TokenizerBackend":
        """Returns this backend with tokens of its vocabulary as control tokens, under their ids."""

    @property
    def strips(self) -> Mapping[str, tuple[bool, bool]]:
        """Whether white space before and after a token goes with it, for those added tokens with which some goes."""
        return {}

    def after_control(self) -> "TokenizerBackend":
        """Returns the backend of a text that follows a control token: without a space that begins whole texts alone."""
        return self

    def without_inner_spaces(self) -> "TokenizerBackend":
        """Returns this backend; T5 one that puts a space before a text only, and not after control tokens in it."""
        return self

    def with_around(self, before: Sequence[str], after: Sequence[str]) -> "TokenizerBackend":
        """Returns this backend with other control tokens put around a text."""
