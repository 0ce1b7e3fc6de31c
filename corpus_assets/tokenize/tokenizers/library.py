"""Tokenizers of the tokenizers library: everything that a `tokenizer.json` can describe."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from tokenizers import AddedToken as LibraryToken
from tokenizers import Tokenizer as Encoder
from tokenizers import models
from typing_extensions import override

from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.tokenizers.backend import Around, TokenizerBackend
from corpus_assets.tokenize.tokenizers.files import MAX_VOCABULARY, TOKENIZER_JSON, AddedToken, Json, written
from corpus_assets.tokenize.tokenizers.special_tokens import plain_definition
from corpus_assets.tokenize.tokenizers.token_sizes import Sizes, byte_level_texts, sizes_of, text_sizes
from resources.errors import BadFileError, ConfigError, JobTimeoutError


@dataclass(frozen=True)
class LibraryBackend(TokenizerBackend):
    """`TokenizerBackend` over the tokenizers library. Results do not depend on its number of threads.

    original: the `tokenizer.json` object. The library takes about 170 bytes of memory per character of one text.
    exact_scores: scores of a Unigram model are those of the object to the last bit. The library's reader of JSON rounds
    many of them wrongly, as whoever loads a published `tokenizer.json` has them, and ties are resolved otherwise.
    """

    original: Json
    exact_scores: bool = False

    @classmethod
    def of(cls, definition: Json, *, exact_scores: bool = False) -> "LibraryBackend":
        """Returns a backend that has proved to work; raises BadFileError for a definition that cannot be used."""
        model = definition.get("model")
        if isinstance(model, dict) and model.get("dropout"):
            raise BadFileError(TOKENIZER_JSON, f"BPE dropout {model['dropout']} makes ids random; valid: none")
        # Truncation and padding would silently cut or lengthen documents.
        backend = cls(definition | {"truncation": None, "padding": None}, exact_scores)
        try:
            _ = backend.around, backend.tokens
        except (BadFileError, MemoryError):
            raise
        except Exception as error:  # wrong types anywhere in the file
            raise BadFileError(TOKENIZER_JSON, f"not a tokenizer: {error!r}") from error
        return backend

    @cached_property
    @override
    def definition(self) -> str:
        return self._plain_text[0]

    @cached_property
    def _plain_text(self) -> tuple[str, bool]:
        """The definition, and whether it has all added tokens."""
        plain = plain_definition(self.original)
        complete = len(plain["added_tokens"]) == len(self.original.get("added_tokens") or ())
        return written(plain), complete

    @cached_property
    def matched_definition(self) -> str:
        """The `tokenizer.json` for texts in which control tokens are matched."""
        return written(self.original)

    @cached_property
    def _plain(self) -> Encoder:
        encoder = _encoder(self.definition, self.exact_scores)
        encoder.encode_special_tokens = True
        return encoder

    @cached_property
    def _matching(self) -> Encoder:
        return _encoder(self.matched_definition, self.exact_scores)

    @cached_property
    def _naming(self) -> Encoder:
        """The encoder that knows every token's name."""
        return self._plain if self._plain_text[1] else self._matching

    @cached_property
    @override
    def tokens(self) -> list[str | None]:
        ids = self._naming.get_vocab(with_added_tokens=True)
        size = max(ids.values(), default=-1) + 1
        if not 0 < size <= MAX_VOCABULARY:
            raise BadFileError(TOKENIZER_JSON, f"ids go up to {size - 1}; valid: 0 to {MAX_VOCABULARY - 1}")
        names: list[str | None] = [None] * size
        for token, id_ in ids.items():
            names[id_] = token
        return names

    @cached_property
    @override
    def special_tokens(self) -> dict[str, int]:
        added = self._naming.get_added_tokens_decoder()
        return {token.content: id_ for id_, token in sorted(added.items()) if token.special}

    @cached_property
    @override
    def added_tokens(self) -> dict[str, int]:
        return {token.content: id_ for id_, token in sorted(self._naming.get_added_tokens_decoder().items())}

    @cached_property
    @override
    def strips(self) -> dict[str, tuple[bool, bool]]:
        added = self._naming.get_added_tokens_decoder().values()
        return {token.content: (token.lstrip, token.rstrip) for token in added if token.lstrip or token.rstrip}

    @cached_property
    @override
    def around(self) -> Around:
        probe = self._plain.encode("a", add_special_tokens=True)
        inner = [index for index, mark in enumerate(probe.special_tokens_mask) if not mark]
        first, last = (inner[0], inner[-1] + 1) if inner else (len(probe.ids), len(probe.ids))
        return tuple(probe.ids[:first]), tuple(probe.ids[last:])

    @override
    def encode(self, texts: Sequence[str], *, around: bool, matched: bool) -> Ragged:
        encoder = self._matching if matched else self._plain
        return Ragged.of(encoding.ids for encoding in encoder.encode_batch_fast(list(texts), add_special_tokens=around))

    @override
    def encode_offsets(self, text: str) -> tuple[Ids, NDArray[np.int64]]:
        encoding = self._plain.encode(text, add_special_tokens=False)
        starts = np.fromiter((start for start, _ in encoding.offsets), np.int64, len(encoding.ids))
        return np.asarray(encoding.ids, np.int32), starts

    @override
    def token_id(self, token: str) -> int | None:
        id_: int | None = self._naming.token_to_id(token)
        return id_

    @override
    def decode(self, ids: Sequence[int]) -> str:
        if (texts := self._byte_level_texts) is not None:
            return b"".join(map(texts.__getitem__, ids)).decode(errors="replace")
        return str(self._naming.decode(list(ids), skip_special_tokens=False))

    @cached_property
    def _byte_level_texts(self) -> list[bytes] | None:
        return byte_level_texts(self.tokens, self.original.get("decoder"))

    @cached_property
    def _sizes(self) -> Sizes:
        if (texts := self._byte_level_texts) is not None:
            return sizes_of(texts)
        decoder = self._naming
        return text_sizes(
            self.tokens,
            self.original.get("decoder"),
            lambda lists: list(decoder.decode_batch(lists, skip_special_tokens=False)),
        )

    @override
    def text_sizes(self) -> Sizes:
        return self._sizes

    @override
    def with_added(self, tokens: Sequence[AddedToken]) -> "LibraryBackend":
        known = [token.content for token in tokens if token.special and token.content in self.added_tokens]
        marked = self._marked(known)
        new = [token for token in tokens if marked._lacks(token)]
        if not new:
            return marked
        encoder = _encoder(marked.matched_definition, self.exact_scores)
        for token in new:
            add = encoder.add_special_tokens if token.special else encoder.add_tokens
            add([_of_library(token)])
        return LibraryBackend.of(json.loads(encoder.to_str()), exact_scores=self.exact_scores)

    def _marked(self, contents: Collection[str]) -> "LibraryBackend":
        """Returns this backend with some of its added tokens as control tokens."""
        if all(content in self.special_tokens for content in contents):
            return self
        # Set in the object, since the library would change the other flags of a token that it has.
        added = [
            token | {"special": True} if token["content"] in contents else token
            for token in self.original.get("added_tokens") or []
        ]
        return LibraryBackend.of(self.original | {"added_tokens": added}, exact_scores=self.exact_scores)

    def _lacks(self, token: AddedToken) -> bool:
        return token.content not in self.special_tokens if token.special else self.token_id(token.content) is None

    @override
    def with_control(self, tokens: Collection[str]) -> "LibraryBackend":
        return self.with_added([AddedToken(token) for token in tokens])

    @override
    def after_control(self) -> "LibraryBackend":
        names = ("pre_tokenizer", "decoder")
        parts = {name: _never_prepending(self.original.get(name)) for name in names}
        if all(parts[name] == self.original.get(name) for name in names):
            return self
        return LibraryBackend.of(self.original | parts, exact_scores=self.exact_scores)

    @override
    def without_inner_spaces(self) -> "LibraryBackend":
        # Only T5 is made of its model, with these scores; what a `tokenizer.json` says is not changed.
        space = self.original["pre_tokenizer"] if self.exact_scores else {}
        if space.get("prepend_scheme") != "always":
            return self
        first = space | {"prepend_scheme": "first"}
        return LibraryBackend.of(self.original | {"pre_tokenizer": first, "decoder": first}, exact_scores=True)

    @override
    def with_around(self, before: Sequence[str], after: Sequence[str]) -> "LibraryBackend":
        ids = {token: self.token_id(token) for token in (*before, *after)}
        if missing := [token for token, id_ in ids.items() if id_ is None]:
            raise ConfigError(f"tokens to put around a text are not in the vocabulary: {missing}")
        if tuple(tuple(ids[token] for token in tokens) for tokens in (before, after)) == self.around:
            return self
        marks: list[list[Any]] = [
            [{"SpecialToken": {"id": token, "type_id": 0}} for token in tokens] for tokens in (before, after)
        ]
        text, other = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
        template = {
            "type": "TemplateProcessing",
            "single": [*marks[0], text, *marks[1]],
            "pair": [*marks[0], text, *marks[1], *marks[0], other, *marks[1]],
            "special_tokens": {token: {"id": token, "ids": [id_], "tokens": [token]} for token, id_ in ids.items()},
        }
        return LibraryBackend.of(self.original | {"post_processor": template}, exact_scores=self.exact_scores)


def _of_library(token: AddedToken) -> LibraryToken:
    values = token._asdict()
    if token.normalized is None:
        values["normalized"] = not token.special
    return LibraryToken(**values)


class _Spaces(msgspec.Struct):
    """The parts of a `tokenizer.json` that say what becomes of white space beside control tokens."""

    pre_tokenizer: Any = None
    added_tokens: list[Any] | None = None


def spaces_go(definition: bytes) -> bool:
    """Returns whether white space beside control tokens differs from that elsewhere, by a `tokenizer.json`; a bad one
    says nothing.
    """
    try:
        found = msgspec.json.decode(definition, type=_Spaces)
    except (ValueError, RecursionError):
        return False
    flags = (
        token.get(side)
        for token in found.added_tokens or ()
        if isinstance(token, dict)
        for side in ("lstrip", "rstrip")
    )
    return _never_prepending(found.pre_tokenizer) != found.pre_tokenizer or any(flags)


def _never_prepending(step: Any) -> Any:
    """Returns a step of a definition in which Metaspace puts no space before a text, if it does so there alone."""
    if isinstance(step, list):
        return [_never_prepending(one) for one in step]
    if not isinstance(step, dict):
        return step
    never = {"prepend_scheme": "never"} if step.get("prepend_scheme") == "first" else {}
    return {name: _never_prepending(value) for name, value in step.items()} | never


def _encoder(definition: str, exact_scores: bool) -> Encoder:
    try:
        encoder = Encoder.from_str(definition)
        if exact_scores:
            model = json.loads(definition)["model"]
            pieces = [(piece, score) for piece, score in model["vocab"]]
            encoder.model = models.Unigram(pieces, model["unk_id"], model["byte_fallback"])
        return encoder
    except (KeyboardInterrupt, SystemExit, MemoryError, JobTimeoutError):
        raise
    except BaseException as error:  # bare Exception for most faults of a file, a panic (no Exception) for others
        raise BadFileError(TOKENIZER_JSON, f"not a tokenizer: {error}") from error
