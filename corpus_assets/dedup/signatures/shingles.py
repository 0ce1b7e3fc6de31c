"""Cleaned bytes of a text, and its shingles as sets of 64-bit hashes.

Rules: docs/formats/slimpajama.md "Cleaning", "Shingles".
"""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.constants import MIX, MULTIPLIER
from corpus_assets.dedup.signatures.cleaned_text import clean_batch
from corpus_assets.dedup.signatures.scheme import SignatureScheme, Unit
from resources import jit

_SPACE = 32


def cleaned_bytes(text: str) -> bytes:
    """`clean(text)` as UTF-8, lone surrogates as three bytes each."""
    return clean_batch([text])[0].tobytes()


def shingle_hashes(cleaned: bytes, scheme: SignatureScheme) -> NDArray[np.uint64]:
    """Sorted unique hashes, shape (distinct shingles,), of the shingles of cleaned bytes; only unit and width count.

    Equal shingles have equal hashes everywhere; different ones share a hash with a chance of about 2^-64.
    """
    hashes = window_hashes(np.frombuffer(cleaned, dtype=np.uint8), scheme.unit, scheme.width)
    hashes.sort()
    first = np.ones(hashes.size, dtype=np.bool_)
    np.not_equal(hashes[1:], hashes[:-1], out=first[1:])
    return hashes[first]


def window_hashes(cleaned: NDArray[np.uint8], unit: Unit, width: int, salt: int = 0) -> NDArray[np.uint64]:
    """mix64(polynomial ^ salt) of every window of `width` units, in order: shape (windows,).

    The polynomial of units u[0..width) is the sum of u[i] * MULTIPLIER^(width-1-i) modulo 2^64. A code point counts as
    its UTF-8 bytes read as a big-endian number; a word as mix64 of the same polynomial over its bytes plus one.
    """
    starts, ends = unit_spans(cleaned, unit)
    out = np.zeros(max(0, starts.size - width + 1), dtype=np.uint64)
    if out.size and jit.available():
        from corpus_assets.dedup.kernels.polynomial import hash_windows

        hash_windows(cleaned, int(unit == "word"), width, np.uint64(salt), out)
    elif out.size:
        values = _word_values(cleaned, starts, ends) if unit == "word" else _point_values(cleaned, starts, ends)
        for first in range(width):
            out = out * np.uint64(MULTIPLIER) + values[first : first + out.size]
        out = mix64(out ^ np.uint64(salt))
    return out


def unit_spans(cleaned: NDArray[np.uint8], unit: Unit) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and past-the-last byte of every unit, each of shape (units,)."""
    if unit == "char":
        starts = np.flatnonzero(cleaned & 0xC0 != 0x80)
        return starts, np.append(starts[1:], cleaned.size)[: starts.size]
    spaces = np.flatnonzero(cleaned == _SPACE)
    words = spaces.size + int(cleaned.size > 0)
    return np.concatenate([[0], spaces + 1])[:words], np.append(spaces, cleaned.size)[:words]


def mix64(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijection of 64-bit integers in which every bit of the input moves every bit of the output."""
    half = np.uint64(32)
    values = (values ^ (values >> half)) * np.uint64(MIX)
    values = (values ^ (values >> half)) * np.uint64(MIX)
    return values ^ (values >> half)


def _point_values(cleaned: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    values = np.zeros(starts.size, dtype=np.uint64)
    for offset in range(4):
        longer = starts + offset < ends
        values[longer] = values[longer] << np.uint64(8) | cleaned[starts[longer] + offset]
    return values


def _word_values(cleaned: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    powers = np.full(int((ends - starts).max()), MULTIPLIER, dtype=np.uint64)
    powers[0] = 1
    bytes_after = np.repeat(ends, ends - starts + 1)[: cleaned.size] - 1 - np.arange(cleaned.size)
    terms = (cleaned + np.uint64(1)) * np.cumprod(powers)[bytes_after]
    terms[bytes_after < 0] = 0
    return mix64(np.add.reduceat(terms, starts))
