"""Bytes and code points of every token's text, as its decoder writes it."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Sizes = tuple[NDArray[np.int32], NDArray[np.int32]]
BYTE_PIECE = re.compile(r"<0x[0-9A-Fa-f]{2}>")


def byte_level_alphabet() -> dict[str, int]:
    """Returns the byte that each of 256 printable characters stands for (Radford et al. 2019)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + index): byte for index, byte in enumerate(others)}


def text_sizes(tokens: Sequence[str | None], decoder: Any, decode: Callable[[list[list[int]]], list[str]]) -> Sizes:
    """Returns the sizes (n,) in UTF-8 bytes and code points of what each id adds to a decoded text; 0 without a token.

    decoder: the `decoder` object of a `tokenizer.json`; decode: texts of many id lists. Exact for byte-level
    decoders and for byte pieces. Other tokens are measured behind a letter, which is exact but for the rules of a
    decoder that looks at more than one token or at the ends of a text: the space that Metaspace and SentencePiece
    decoders take off the first token counts, the one that a BPE word end puts before the next word does not.
    """
    if (texts := byte_level_texts(tokens, decoder)) is not None:
        return sizes_of(texts)
    raw = [b""] * len(tokens)
    anchor = next((id_ for id_, token in enumerate(tokens) if token and token.isascii() and token.isalpha()), None)
    before = [] if anchor is None else [anchor]
    (start,) = decode([before])
    present = [id_ for id_, token in enumerate(tokens) if token]
    for id_, text in zip(present, decode([[*before, id_] for id_ in present]), strict=True):
        raw[id_] = text[len(start) :].encode()
    if "ByteFallback" in _kinds(decoder):
        for id_, token in enumerate(tokens):
            if token and BYTE_PIECE.fullmatch(token):
                raw[id_] = bytes([int(token[3:5], 16)])
    return sizes_of(raw)


def byte_level_texts(tokens: Sequence[str | None], decoder: Any) -> list[bytes] | None:
    """Returns the bytes of every id's text, which one after another make up a decoded text; None if they do not.

    decoder: the `decoder` object of a `tokenizer.json`.
    """
    if _kinds(decoder) != {"ByteLevel"}:
        return None
    letters = _letters()
    return [_byte_level(token, letters) if token else b"" for token in tokens]


def sizes_of(raw: Sequence[bytes]) -> Sizes:
    """Returns the lengths and numbers of code points of UTF-8 strings; a code point counts where its first byte is."""
    lengths = np.fromiter(map(len, raw), np.int32, len(raw))
    starts = np.frombuffer(b"".join(raw), np.uint8) & 0xC0 != 0x80
    ends = np.cumsum(lengths, dtype=np.int64)
    counted = np.concatenate([[0], np.cumsum(starts, dtype=np.int64)])
    return lengths, (counted[ends] - counted[ends - lengths]).astype(np.int32)


def _letters() -> dict[int, str]:
    """Returns the table that makes of each letter of the alphabet the character of its byte, and of others none."""
    others = dict.fromkeys(range(256), "�")
    return others | {ord(letter): chr(byte) for letter, byte in byte_level_alphabet().items()}


def _byte_level(token: str, letters: dict[int, str]) -> bytes:
    """Returns the bytes of a token; one with a character outside the alphabet stands for itself, as in the library."""
    try:
        return token.translate(letters).encode("latin-1")
    except UnicodeEncodeError:
        return token.encode()


def _kinds(decoder: Any) -> set[str]:
    """Returns the types of a decoder and those inside it."""
    if not isinstance(decoder, dict):
        return set()
    nested = decoder.get("decoders")
    return set().union(*map(_kinds, nested)) if isinstance(nested, list) else {str(decoder.get("type"))}
