"""MinHash signatures of cleaned texts, bit-identical to datasketch (specs/slimpajama.md section 4)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha1
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from resources.cleaning import clean

NO_SHINGLE = 0xFFFFFFFF
"""Value of every slot of a signature made from no shingle at all, and the largest a slot can take."""

_MERSENNE_61 = np.uint64((1 << 61) - 1)
_SHINGLES_PER_BLOCK = 1 << 15
_HASHES_PER_STEP = 1 << 10


@dataclass(frozen=True)
class SignatureScheme:
    """What a signature depends on beside the text; signatures of different schemes must never be compared.

    `width` is the length of a shingle in code points. `legacy` is datasketch's only family before 2.0, the
    one
    of SlimPajama: biased on large sets, kept for fidelity.
    """

    family: Literal["affine32", "legacy"] = "affine32"
    permutations: int = 128
    seed: int = 1
    width: int = 13


def sign(texts: Iterable[str], scheme: SignatureScheme) -> Iterator[NDArray[np.uint32]]:
    """One uint32 signature of shape (permutations,) per text, in order; texts come normalized, uncleaned.

    Equal to a datasketch MinHash of that scheme, updated with every window of `width` code points of the
    cleaned text as UTF-8. A text with no such window is featureless: all slots 0xFFFFFFFF. Working memory
    beyond a few copies of the text is bounded.
    """
    for text in texts:
        signature = np.full(scheme.permutations, NO_SHINGLE, dtype=np.uint32)
        for hashes in _shingle_hashes(clean(text), scheme.width):
            np.minimum(signature, _smallest(hashes, scheme), out=signature)
        yield signature


def featureless(signatures: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Of signatures (n, permutations), which were made from no shingle: shape (n,)."""
    return np.asarray((signatures == NO_SHINGLE).all(axis=1))


def _shingle_hashes(text: str, width: int) -> Iterator[NDArray[np.uint32]]:
    """Blocks of SHA-1 hashes (first 4 bytes, little-endian) of the shingles, each shingle once per block."""
    windows = len(text) - width + 1
    for first in range(0, windows, _SHINGLES_PER_BLOCK):
        last = min(first + _SHINGLES_PER_BLOCK, windows)
        shingles = {text[start : start + width] for start in range(first, last)}
        digests = [sha1(s.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest() for s in shingles]
        yield np.frombuffer(b"".join(digests), dtype="<u4").reshape(-1, 5)[:, 0]


def _smallest(hashes: NDArray[np.uint32], scheme: SignatureScheme) -> NDArray[np.uint32]:
    """Smallest value of each permutation over the hashes: shape (permutations,)."""
    factors, terms = _permutations(scheme)
    permute = _permute_legacy if scheme.family == "legacy" else _permute_affine
    steps = (hashes[start : start + _HASHES_PER_STEP] for start in range(0, len(hashes), _HASHES_PER_STEP))
    smallest = [permute(step, factors, terms).min(axis=1) for step in steps]
    signature: NDArray[np.uint32] = np.minimum.reduce(smallest)
    return signature


@lru_cache
def _permutations(scheme: SignatureScheme) -> tuple[NDArray[np.unsignedinteger], NDArray[np.unsignedinteger]]:
    """Factors and terms of the permutations, each of shape (permutations, 1)."""
    # datasketch brings scipy along; the asset graph should load without it.
    from datasketch import MinHash

    sketch = MinHash(num_perm=scheme.permutations, seed=scheme.seed, scheme=scheme.family)
    factors, terms = sketch.permutations
    return factors[:, None], terms[:, None]


def _permute_affine(
    hashes: NDArray[np.uint32], factors: NDArray[np.unsignedinteger], terms: NDArray[np.unsignedinteger]
) -> NDArray[np.uint32]:
    """datasketch's `affine32`: (a * fmix32(h) + b) mod 2^32; the wrap of uint32 is the modulus."""
    mixed = hashes ^ (hashes >> np.uint32(16))
    mixed *= np.uint32(0x85EBCA6B)
    mixed ^= mixed >> np.uint32(13)
    mixed *= np.uint32(0xC2B2AE35)
    mixed ^= mixed >> np.uint32(16)
    values: NDArray[np.uint32] = mixed * factors
    values += terms
    return values


def _permute_legacy(
    hashes: NDArray[np.uint32], factors: NDArray[np.unsignedinteger], terms: NDArray[np.unsignedinteger]
) -> NDArray[np.uint32]:
    """datasketch before 2.0: low 32 bits of ((a * h + b) mod 2^64) mod (2^61 - 1), product wrapping first."""
    values = hashes.astype(np.uint64) * factors
    values += terms
    # Modulo a Mersenne prime by folding the high bits; the wrapped difference is the larger one when none is
    # due.
    high = values >> np.uint64(61)
    values &= _MERSENNE_61
    values += high
    np.minimum(values, values - _MERSENNE_61, out=values)
    return values.astype(np.uint32)
