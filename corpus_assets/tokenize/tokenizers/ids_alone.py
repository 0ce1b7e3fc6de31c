"""A vocabulary of which only the ids are known: for files of ids whose tokenizer is not at hand."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.tokenizers.backend import Around, TokenizerBackend
from corpus_assets.tokenize.tokenizers.files import MAX_VOCABULARY, TOKENIZER_CONFIG, AddedToken, Json
from corpus_assets.tokenize.tokenizers.token_sizes import Sizes
from resources.errors import ConfigError

IDS: Final = "ids"
"""The kind of such a tokenizer."""
IDS_JSON: Final = "ids.json"


@dataclass(frozen=True)
class IdsAlone(TokenizerBackend):
    """A `TokenizerBackend` whose tokens are `<0>`, `<1>` ...; it encodes no text. added: more tokens, after these."""

    size: int
    added: tuple[str, ...] = ()

    @classmethod
    def of(cls, content: Json) -> "IdsAlone":
        """Returns the backend of `ids.json`; `ConfigError` for a vocabulary that is none."""
        size = content.get("vocabulary")
        if not isinstance(size, int) or not 0 < size <= MAX_VOCABULARY:
            raise ConfigError(f"vocabulary is {size!r}; valid: 1 to {MAX_VOCABULARY:,}")
        return cls(size)

    @property
    @override
    def definition(self) -> str | None:
        """There is none."""
        return None

    @property
    @override
    def around(self) -> Around:
        """Nothing is put around a text."""
        return (), ()

    @cached_property
    def _names(self) -> list[str | None]:
        return [*(f"<{id_}>" for id_ in range(self.size)), *self.added]

    @property
    @override
    def tokens(self) -> Sequence[str | None]:
        """The names of all ids."""
        return self._names

    @property
    @override
    def special_tokens(self) -> Mapping[str, int]:
        """None is known but those that were added."""
        return {token: self.size + number for number, token in enumerate(self.added)}

    @property
    @override
    def added_tokens(self) -> Mapping[str, int]:
        """The same."""
        return self.special_tokens

    @override
    def encode(self, texts: Sequence[str], *, around: bool, matched: bool) -> Ragged:
        """Raises `ConfigError`, unless all texts are empty."""
        if any(texts):
            raise ConfigError("the tokenizer is a vocabulary of ids alone (`kind: ids`), which encodes no text")
        return Ragged.of([[] for _ in texts])

    @override
    def encode_offsets(self, text: str) -> tuple[Ids, NDArray[np.int64]]:
        """Raises `ConfigError`, unless the text is empty."""
        return self.encode([text], around=False, matched=False).ids, np.zeros(0, np.int64)

    @override
    def token_id(self, token: str) -> int | None:
        """Returns the id of a name."""
        number = token[1:-1]
        if token == f"<{number}>" and number.isascii() and number.isdecimal() and str(int(number)) == number:
            return int(number) if int(number) < self.size else None
        return self.special_tokens.get(token)

    @override
    def decode(self, ids: Sequence[int]) -> str:
        """Returns the names of the ids."""
        return "".join(self.tokens[id_] or "" for id_ in ids)

    @override
    def text_sizes(self) -> Sizes:
        """Returns zeros: no id has a text that is known."""
        size = self.size + len(self.added)
        return np.zeros(size, np.int32), np.zeros(size, np.int32)

    @override
    def with_added(self, tokens: Sequence[AddedToken]) -> "IdsAlone":
        """Returns this vocabulary with more tokens."""
        new = [token.content for token in tokens if self.token_id(token.content) is None]
        return replace(self, added=(*self.added, *dict.fromkeys(new)))

    @override
    def with_control(self, tokens: Collection[str]) -> "IdsAlone":
        """Returns this vocabulary: no text is encoded in which a token could be found."""
        return self

    @override
    def with_around(self, before: Sequence[str], after: Sequence[str]) -> "IdsAlone":
        """Returns this vocabulary: no text is encoded around which anything could be put."""
        return self


def files_of_vocabulary(size: int, bos: int | None) -> dict[str, bytes]:
    """Returns the files of such a tokenizer, by the names that the loader knows."""
    files = {IDS_JSON: json.dumps({"vocabulary": size}).encode()}
    return files if bos is None else {**files, TOKENIZER_CONFIG: json.dumps({"bos_token": f"<{bos}>"}).encode()}
