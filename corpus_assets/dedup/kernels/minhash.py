"""The smallest value of every permutation over the hashes of each document (datasketch's families)."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, inlined, kernel

U32 = np.uint32
U64 = np.uint64

_STEP = 2048
_MERSENNE = U64((1 << 61) - 1)


@ahead("uint32[::1], int64[::1], uint32[::1], uint32[::1], uint32[:, ::1]")
@kernel
def smallest_affine(
    hashes: NDArray[U32],
    firsts: NDArray[np.int64],
    factors: NDArray[U32],
    terms: NDArray[U32],
    signatures: NDArray[U32],
) -> None:
    """Lowers signatures (documents, permutations) to (a * fmix32(h) + b) mod 2^32 of hashes[firsts[d]:firsts[d + 1]].

    Overwrites the hashes. They are processed in steps, so that a step stays in the first cache for all permutations.
    """
    for document in range(firsts.size - 1):
        for first in range(firsts[document], firsts[document + 1], _STEP):
            step = hashes[first : min(first + _STEP, firsts[document + 1])]
            for i in range(step.size):
                step[i] = _fmix32(step[i])
            for permutation in range(factors.size):
                factor, term = factors[permutation], terms[permutation]
                smallest = signatures[document, permutation]
                for i in range(step.size):
                    smallest = min(smallest, U32(U32(step[i] * factor) + term))
                signatures[document, permutation] = smallest


@ahead("uint32[::1], int64[::1], uint64[::1], uint64[::1], uint32[:, ::1]")
@kernel
def smallest_legacy(
    hashes: NDArray[U32],
    firsts: NDArray[np.int64],
    factors: NDArray[U64],
    terms: NDArray[U64],
    signatures: NDArray[U32],
) -> None:
    """Does what `smallest_affine` does, with the low 32 bits of ((a * h + b) mod 2^64) mod (2^61 - 1)."""
    for document in range(firsts.size - 1):
        for first in range(firsts[document], firsts[document + 1], _STEP):
            step = hashes[first : min(first + _STEP, firsts[document + 1])]
            for permutation in range(factors.size):
                factor, term = factors[permutation], terms[permutation]
                smallest = signatures[document, permutation]
                for i in range(step.size):
                    smallest = min(smallest, _modulo_mersenne(U64(step[i]) * factor + term))
                signatures[document, permutation] = smallest


@inlined
def _fmix32(value: U32) -> U32:
    """Returns a value mixed by the finaliser of MurmurHash3."""
    value = U32(U32(value ^ U32(value >> U32(16))) * U32(0x85EBCA6B))
    value = U32(U32(value ^ U32(value >> U32(13))) * U32(0xC2B2AE35))
    return U32(value ^ U32(value >> U32(16)))


@inlined
def _modulo_mersenne(value: U64) -> U32:
    """Returns the low 32 bits of `value` mod 2^61 - 1, by folding the bits above."""
    folded = (value & _MERSENNE) + (value >> U64(61))
    return U32(folded - _MERSENNE if folded >= _MERSENNE else folded)
