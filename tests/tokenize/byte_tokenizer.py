"""A small tokenizer that needs no file: ids are bytes, except that a space and the byte after it are one token."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.ragged import Ids, Ragged

SPACE = 32
CONTROL = ("<eos>", "<pad>", "<bos>", "<pre>", "<mid>", "<suf>", "<|user|>", "<|assistant|>")


class ByteTokenizer:
    """Ids 0..255 are bytes, 256..511 bytes behind a space, and the control tokens follow."""

    def __init__(self, *, adds_bos: bool = False, pad: str = "<pad>") -> None:
        self.special_tokens: Mapping[str, int] = {token: 512 + number for number, token in enumerate(CONTROL)}
        self.kind = "tokenizer_json"
        self.vocab_size = 512 + len(CONTROL)
        self.added_tokens = self.special_tokens
        self.eos_id: int | None = self.special_tokens["<eos>"]
        self.pad_id = self.special_tokens[pad]
        self.bos_id: int | None = self.special_tokens["<bos>"] if adds_bos else None
        self.adds_bos = self.bos_by_setting = adds_bos
        self.digest = self.encoding_digest = "0" * 32
        self.chat_template: str | None = None
        self.template_values: Mapping[str, Any] = {}
        self.strips: Mapping[str, tuple[bool, bool]] = {}

    @property
    def after_control(self) -> "ByteTokenizer":
        return self

    def encode_batch(self, texts: Sequence[str]) -> Ragged:
        begin = [] if self.bos_id is None else [self.bos_id]
        return Ragged.of([*begin, *ids] for ids in self.encode_plain(texts))

    def encode_plain(self, texts: Sequence[str]) -> Ragged:
        return Ragged.of(self.encode_offsets(text)[0] for text in texts)

    def encode_trusted(self, text: str, *, bos: bool = True) -> Ids:
        ids: list[int] = [self.bos_id] if bos and self.bos_id is not None else []
        for part in re.split(f"({'|'.join(map(re.escape, CONTROL))})", text):
            ids += [self.special_tokens[part]] if part in self.special_tokens else self.encode_offsets(part)[0].tolist()
        return np.array(ids, np.int32)

    def encode_offsets(self, text: str) -> tuple[Ids, NDArray[np.int64]]:
        owner = [place for place, character in enumerate(text) for _ in character.encode()]
        content, ids, starts, n = text.encode(), list[int](), list[int](), 0
        while n < len(content):
            starts.append(owner[n])
            joined = content[n] == SPACE and n + 1 < len(content)
            ids.append(256 + content[n + 1] if joined else content[n])
            n += 1 + joined
        return np.array(ids, np.int32), np.array(starts, np.int64)

    def token_id(self, token: str) -> int | None:
        return self.special_tokens.get(token)

    def decode(self, ids: Sequence[int] | NDArray[np.integer]) -> str:
        names = {number: token.encode() for token, number in self.special_tokens.items()}
        parts = (names.get(int(i)) or (bytes([i]) if i < 256 else bytes([SPACE, i - 256])) for i in ids)
        return b"".join(parts).decode(errors="replace")

    def with_token(self, token: str) -> "ByteTokenizer":
        assert token in self.special_tokens
        return self

    def text_sizes(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        sizes = np.repeat(np.array([1, 2, 0], np.int32), [256, 256, len(CONTROL)])
        return sizes, sizes
