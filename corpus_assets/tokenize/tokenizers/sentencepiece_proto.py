"""Reads a SentencePiece model file: pieces, kind and normalizer.

The file is a protocol buffer (`sentencepiece_model.proto` of the library). Its normalizer is a list of replacements,
the longest first at every place, in a double array trie (Yata 2008, the Darts-clone format).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from struct import unpack

import numpy as np
from numpy.typing import NDArray

UNIGRAM, BPE = 1, 2
CONTROL, USER_DEFINED = 3, 4
_Value = int | bytes
_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_PIECE_TEXT, _PIECE_SCORE, _PIECE_TYPE = 1, 2, 3
_NORMAL, _UNKNOWN, _UNUSED, _BYTE = 1, 2, 5, 6
_MODEL_TYPE, _WHITESPACE_AS_SUFFIX, _UNKNOWN_ID = 3, 24, 40
_CHARSMAP, _ADD_DUMMY_PREFIX = 2, 3
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_LONGEST_CHARACTER = 4
_MOST_STATES = 1 << 21
_LABELS = np.arange(1, 256)
_HAS_LEAF = 1 << 8


@dataclass(frozen=True)
class SentencePieceModel:
    """pieces: those that a text is made of: no control pieces, bytes, or characters that are marked as unused.

    kind: `UNIGRAM`, `BPE` or another.

    whitespace_as_suffix: the space of a word is at its end.
    """

    pieces: list[str]
    kind: int
    add_dummy_prefix: bool
    whitespace_as_suffix: bool
    charsmap: bytes

    @classmethod
    def of(cls, raw: bytes) -> "SentencePieceModel":
        """Read a serialized model; raises ValueError for bytes that are none."""
        fields, trainer, normalizer = _messages(raw)
        pieces = [(_bytes(piece, _PIECE_TEXT).decode(), piece.get(_PIECE_TYPE)) for piece in fields]
        return cls(
            pieces=[
                text
                for text, kind in pieces
                if kind not in (_UNKNOWN, CONTROL, _BYTE) and not (kind == _UNUSED and len(text) == 1)
            ],
            kind=int(trainer.get(_MODEL_TYPE, UNIGRAM)),
            add_dummy_prefix=bool(normalizer.get(_ADD_DUMMY_PREFIX, True)),
            whitespace_as_suffix=bool(trainer.get(_WHITESPACE_AS_SUFFIX, False)),
            charsmap=_bytes(normalizer, _CHARSMAP),
        )


@dataclass(frozen=True)
class Unigram:
    """All that a model of pieces with scores says of a text's ids, but for how SentencePiece reads white space.

    pieces: text, logarithm of the probability, and type (such as `CONTROL`) of every id. unknown: the id of text that
    no piece has.
    """

    pieces: list[tuple[str, float, int]]
    unknown: int
    charsmap: bytes

    @classmethod
    def of(cls, raw: bytes) -> "Unigram | None":
        """Read a serialized model, None if it is of another kind; raises ValueError for bytes that are none."""
        fields, trainer, normalizer = _messages(raw)
        unknown = int(trainer.get(_UNKNOWN_ID, 0))
        if trainer.get(_MODEL_TYPE, UNIGRAM) != UNIGRAM:
            return None
        if unknown >= len(fields):
            raise ValueError(f"the unknown piece has id {unknown} of {len(fields)}")
        pieces = [
            (_bytes(piece, _PIECE_TEXT).decode(), _float(piece, _PIECE_SCORE), int(piece.get(_PIECE_TYPE, _NORMAL)))
            for piece in fields
        ]
        return cls(pieces, unknown, _bytes(normalizer, _CHARSMAP))


def rule_characters(charsmap: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the characters that stand in the replaced strings of a normalizer, and those that end one.

    charsmap: uint32 size of the trie, the trie, and the replacements; empty for a normalizer that replaces nothing.
    Raises ValueError for a trie that is none.
    """
    if not charsmap:
        return frozenset(), frozenset()
    size = int.from_bytes(charsmap[:4], "little")
    trie: NDArray[np.uint32] = np.frombuffer(charsmap, "<u4", size // 4, 4)
    if not len(trie):
        raise ValueError("a normalizer with an empty trie")
    labels = trie & np.uint32(0x800000FF)
    inside, last = set[str](), set[str]()
    # Subtrees are shared, so a place of the trie and the bytes of a character begun are met once.
    stack = [(_offset(int(trie[0])), b"")]
    seen = set(stack)
    while stack:
        base, begun = stack.pop()
        children = base ^ _LABELS
        children = children[children < len(trie)]
        for child in children[labels[children] == (children ^ base)].tolist():
            code, unit = begun + bytes([child ^ base]), int(trie[child])
            if complete := _is_character(code):
                letter = code.decode()
                inside.add(letter)
                if unit & _HAS_LEAF:
                    last.add(letter)
            state = child ^ _offset(unit), b"" if complete else code
            if state not in seen:
                seen.add(state)
                stack.append(state)
        if len(seen) > _MOST_STATES:
            raise ValueError(f"a normalizer of more than {_MOST_STATES} states")
    return frozenset(inside), frozenset(last)


def _offset(unit: int) -> int:
    """Returns the offset from a node of the trie to its children (Darts-clone: 22 bits, or 8 bits less with a flag)."""
    return (unit >> 10) << ((unit & 0x200) >> 6)


def _is_character(code: bytes) -> bool:
    """True if bytes have the length of a character in UTF-8."""
    first = code[0]
    size = 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else _LONGEST_CHARACTER
    return len(code) == size


def _messages(raw: bytes) -> tuple[list[dict[int, _Value]], dict[int, _Value], dict[int, _Value]]:
    """Returns the fields of all pieces, of the trainer and of the normalizer of a model."""
    parts: dict[int, list[bytes]] = {_PIECES: [], _TRAINER: [], _NORMALIZER: []}
    for number, value in _fields(raw):
        if number in parts and isinstance(value, bytes):
            parts[number].append(value)
    # Messages that come more than once are merged, the last value of a field counts.
    trainer, normalizer = (dict(_fields(b"".join(parts[number]))) for number in (_TRAINER, _NORMALIZER))
    return [dict(_fields(piece)) for piece in parts[_PIECES]], trainer, normalizer


def _fields(raw: bytes) -> Iterator[tuple[int, _Value]]:
    """Yields the numbers and values of the fields of a message (protocol buffers, wire format)."""
    place = 0
    while place < len(raw):
        key, place = _varint(raw, place)
        kind = key & 7
        if kind == _VARINT:
            value, place = _varint(raw, place)
            yield key >> 3, value
            continue
        if kind == _LENGTH:
            size, place = _varint(raw, place)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"field of kind {kind}; valid: 0, 1, 2, 5")
        if place + size > len(raw):
            raise ValueError(f"field of {size} bytes at byte {place} of {len(raw)}")
        yield key >> 3, raw[place : place + size]
        place += size


def _varint(raw: bytes, place: int) -> tuple[int, int]:
    """Returns a number of seven bits per byte, the lowest first, and the place after it."""
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(raw):
            break
        byte = raw[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
    raise ValueError(f"no number ends at byte {place} of {len(raw)}")


def _bytes(fields: dict[int, _Value], number: int) -> bytes:
    value = fields.get(number, b"")
    if not isinstance(value, bytes):
        raise ValueError(f"field {number} is a number; valid: bytes")
    return value


def _float(fields: dict[int, _Value], number: int) -> float:
    """Returns a number in single precision, 0 if there is none."""
    value = _bytes(fields, number) or bytes(4)
    if len(value) != 4:
        raise ValueError(f"field {number} has {len(value)} bytes; valid: 4")
    if not isfinite(found := float(unpack("<f", value)[0])):
        raise ValueError(f"field {number} is {found}; valid: a finite number")
    return found
