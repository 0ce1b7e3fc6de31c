"""Cleaned bytes of a text, and its shingles as sets of 64-bit hashes.

Rules: docs/formats/slimpajama.md "Cleaning", "Shingles".
"""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.signatures.cleaned_text import clean_batch
from corpus_assets.dedup.signatures.scheme import SignatureScheme, Unit
from resources.formats.texts import joined

_SPACE = 32


def cleaned_bytes(text: str) -> bytes:
    """Returns `clean(text)` as UTF-8, lone surrogates as three bytes each."""
    return clean_batch(joined([text.encode("utf-8", "surrogatepass")])).characters.tobytes()


def shingle_hashes(cleaned: bytes, scheme: SignatureScheme) -> NDArray[np.uint64]:
    """Returns the sorted unique hashes of the shingles of cleaned bytes, for the unit and width of `scheme`.

    Equal shingles have equal hashes everywhere; different ones share a hash with a chance of about 2^-64.
    """
    from corpus_assets.dedup.kernels.polynomial import hash_windows

    # Writable, because numba would compile the kernels again for a read-only array.
    text = np.frombuffer(bytearray(cleaned), dtype=np.uint8)
    hashes = np.zeros(max(0, _count_units(text, scheme.unit) - scheme.width + 1), dtype=np.uint64)
    hash_windows(text, int(scheme.unit == "word"), scheme.width, np.uint64(0), hashes)
    hashes.sort()
    first = np.ones(hashes.size, dtype=np.bool_)
    np.not_equal(hashes[1:], hashes[:-1], out=first[1:])
    return hashes[first]


def _count_units(cleaned: NDArray[np.uint8], unit: Unit) -> int:
    if unit == "char":
        return int(np.count_nonzero(cleaned & 0xC0 != 0x80))
    return int(np.count_nonzero(cleaned == _SPACE)) + int(cleaned.size > 0)
