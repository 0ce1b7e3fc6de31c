"""SentencePiece models through their own library (Kudo and Richardson 2018), whose ids are the truth."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from sentencepiece import SentencePieceProcessor
from typing_extensions import override

from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.tokenizers.backend import Around, TokenizerBackend
from corpus_assets.tokenize.tokenizers.files import MAX_VOCABULARY, AddedToken
from corpus_assets.tokenize.tokenizers.sentencepiece_proto import BPE, SentencePieceModel
from corpus_assets.tokenize.tokenizers.token_sizes import Sizes, sizes_of
from resources.errors import BadFileError, ConfigError

_SPACE = "\u2581"
_NO_PREFIX = bytes([3 << 3 | 2, 2, 3 << 3, 0])
"""Appended to a model: `normalizer_spec.add_dummy_prefix` (fields 3 and 3) is false. Later values of a field count."""


@dataclass(frozen=True)
class SentencePieceBackend(TokenizerBackend):
    """`TokenizerBackend` over a serialized model.

    added: control tokens under the ids after the model's own. Control pieces spelled in a text are plain, as the
    library has it; user-defined pieces are found. `matched` texts are cut at control tokens, and every part is
    encoded as a text of its own (with the space that the model puts before it). inner_spaces: False if the model puts
    none before a part that follows a control token (`legacy: false` of transformers). begins: False for a backend of
    such parts alone. `normalized_unknown`: the unknown piece
    is found in the text that the model sees, as transformers does if it is declared so: after a space, which goes with
    it, or where a part begins; for BPE models that put a space before a text and leave all others.
    """

    model: bytes
    name: str
    added: tuple[str, ...] = ()
    around: Around = ((), ())
    normalized_unknown: bool = False
    inner_spaces: bool = True
    begins: bool = True
    definition: None = None

    @classmethod
    def of(cls, model: bytes, name: str) -> "SentencePieceBackend":
        """Returns a backend that has proved to load; raises BadFileError with `name` for a model that does not."""
        backend = cls(model, name)
        size = len(backend.tokens)
        if not 0 < size <= MAX_VOCABULARY:
            raise BadFileError(name, f"has {size} pieces; valid: 1 to {MAX_VOCABULARY}")
        return backend

    @cached_property
    def _processor(self) -> SentencePieceProcessor:
        return self._loaded(self.model)

    def _loaded(self, model: bytes) -> SentencePieceProcessor:
        processor = SentencePieceProcessor()
        try:
            processor.LoadFromSerializedProto(model)
        except (RuntimeError, ValueError, TypeError) as error:
            raise BadFileError(self.name, f"not a SentencePiece model: {error}") from error
        return processor

    @cached_property
    def _unprefixed(self) -> SentencePieceProcessor:
        """The model without the space that it puts before a text."""
        return self._loaded(self.model + _NO_PREFIX)

    @property
    def _of_plain(self) -> SentencePieceProcessor:
        return self._processor if self.begins else self._unprefixed

    @cached_property
    def _spaced_unknown(self) -> str | None:
        """Returns the unknown piece after its space, if it is found in the text that the model sees."""
        if not self.normalized_unknown or SentencePieceModel.of(self.model).kind != BPE:
            return None
        ids = (self._processor.encode_as_ids("a"), self._unprefixed.encode_as_ids(" a"))
        return f" {self.tokens[self._processor.unk_id()]}" if ids[0] == ids[1] else None

    @cached_property
    @override
    def tokens(self) -> list[str | None]:
        try:
            pieces = self._processor.id_to_piece(list(range(self._processor.vocab_size())))
        except UnicodeDecodeError as error:
            raise BadFileError(self.name, f"has a piece that is no UTF-8: {error.reason}") from None
        return [*pieces, *self.added]

    @cached_property
    @override
    def special_tokens(self) -> dict[str, int]:
        processor = self._processor
        pieces = enumerate(self.tokens)
        return {
            piece: id_
            for id_, piece in pieces
            if piece and (id_ >= processor.vocab_size() or processor.is_control(id_) or processor.is_unknown(id_))
        }

    @property
    @override
    def added_tokens(self) -> dict[str, int]:
        return self.special_tokens

    @property
    def control_tokens(self) -> dict[str, str]:
        """Pieces of `bos_token`, `eos_token` and `pad_token`, as far as the model has them."""
        processor = self._processor
        ids = {"bos_token": processor.bos_id(), "eos_token": processor.eos_id(), "pad_token": processor.pad_id()}
        return {role: processor.id_to_piece(id_) for role, id_ in ids.items() if id_ >= 0}

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {token: id_ for id_, token in enumerate(self.tokens) if token is not None}

    @cached_property
    def _control(self) -> re.Pattern[str]:
        """Finds control tokens, the longest of those that start at one place; not the unknown piece after its space."""
        apart = (self._spaced_unknown or "").removeprefix(" ")
        longest_first = sorted(self.special_tokens.keys() - {apart}, key=lambda token: (-len(token), token))
        return re.compile(f"({'|'.join(map(re.escape, longest_first))})")

    @override
    def encode(self, texts: Sequence[str], *, around: bool, matched: bool) -> Ragged:
        if matched:
            lists = [self._encode_matched(text) for text in texts]
        else:
            lists = self._of_plain.encode_as_numpy(list(texts), num_threads=1) if texts else []
        if around and self.around != ((), ()):
            before, after = (np.array(ids, np.int32) for ids in self.around)
            lists = [np.concatenate([before, ids, after]) for ids in lists]
        return Ragged.of(lists)

    def _encode_matched(self, text: str) -> Ids:
        parts = [part for part in self._control.split(text) if part]
        special = self.special_tokens
        ids = [
            [special[part]] if self._control.fullmatch(part) else self._encode_part(part, begins=number == 0)
            for number, part in enumerate(parts)
        ]
        return np.array([id_ for part in ids for id_ in part], np.int32)

    def _encode_part(self, part: str, *, begins: bool) -> list[int]:
        if not begins and not self.inner_spaces:
            plain: list[int] = self._unprefixed.encode_as_ids(part)
            return plain
        unknown, spaced = self._spaced_unknown, f" {part}".replace(_SPACE, " ")
        if unknown is None or unknown not in spaced:
            found: list[int] = self._processor.encode_as_ids(part)
            return found
        first, *others = (self._unprefixed.encode_as_ids(text) for text in spaced.split(unknown))
        return [*first, *(id_ for ids in others for id_ in (self._processor.unk_id(), *ids))]

    @override
    def encode_offsets(self, text: str) -> tuple[Ids, NDArray[np.int64]]:
        mapping = self._of_plain.encode_as_offset_mapping(text)
        starts = np.array([start for start, _ in mapping["offsets"]], np.int64)
        return np.array(mapping["ids"], np.int32), starts

    @override
    def token_id(self, token: str) -> int | None:
        return self._ids.get(token)

    @override
    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self._decoded(ids))

    def _decoded(self, ids: Sequence[int]) -> Iterator[str]:
        control = set(self.special_tokens.values()) - {self._processor.unk_id()}
        for special, run in groupby(ids, control.__contains__):
            if special:
                yield from (self.tokens[id_] or "" for id_ in run)
            else:
                yield self._processor.decode(list(run))

    @cached_property
    def _sizes(self) -> Sizes:
        return sizes_of([self._bytes(id_, piece or "") for id_, piece in enumerate(self.tokens)])

    @override
    def text_sizes(self) -> Sizes:
        return self._sizes

    def _bytes(self, id_: int, piece: str) -> bytes:
        processor = self._processor
        if id_ < processor.vocab_size() and processor.is_byte(id_):
            return bytes([int(piece[3:5], 16)])
        if id_ == processor.unk_id():
            surface: str = processor.decode([id_])
            return surface.encode()
        return (piece if piece in self.special_tokens else piece.replace(_SPACE, " ")).encode()

    @override
    def with_added(self, tokens: Sequence[AddedToken]) -> "SentencePieceBackend":
        new = [token.content for token in tokens if token.content not in self._ids]
        return replace(self, added=(*self.added, *dict.fromkeys(new))) if new else self

    @override
    def with_control(self, tokens: Collection[str]) -> "SentencePieceBackend":
        return self  # Added pieces are control tokens already, and the library finds its own in any text.

    @override
    def after_control(self) -> "SentencePieceBackend":
        return self if self.inner_spaces else replace(self, begins=False)

    @override
    def with_around(self, before: Sequence[str], after: Sequence[str]) -> "SentencePieceBackend":
        if missing := [token for token in (*before, *after) if token not in self._ids]:
            raise ConfigError(f"tokens to put around a text are not in the vocabulary: {missing}")
        ids = tuple(tuple(self._ids[token] for token in tokens) for tokens in (before, after))
        return replace(self, around=(ids[0], ids[1]))
