"""Signatures of cleaned texts: MinHash, bit-identical to datasketch, or one-permutation hashing.

Source: docs/formats/slimpajama.md "Signatures".
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.constants import NO_SHINGLE
from corpus_assets.dedup.signatures.cleaned_text import clean_batch
from corpus_assets.dedup.signatures.one_permutation import rotations, salt_of, sketch_salt
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.signatures.sketches import Sketches, require_bits
from corpus_assets.dedup.signatures.template import NOTHING, table_of
from resources.formats.texts import Texts, batches


def sign(texts: Iterable[str], scheme: SignatureScheme, block: int = 1024) -> Iterator[NDArray[np.uint32]]:
    """Yields the signatures of texts, in order: blocks of shape (m, permutations), 0 < m <= block.

    Texts are normalized but not cleaned. `affine32` and `legacy` equal a datasketch MinHash of that scheme, updated
    with every shingle as UTF-8. A text without a shingle is featureless: all slots 0xFFFFFFFF. Working memory is a few
    times the longest text.
    """
    return (_signed(batch, scheme, 0)[0] for batch in batches(texts, block))


def sign_and_sketch(
    texts: Iterable[Texts], scheme: SignatureScheme, bits: int, template: NDArray[np.uint64] = NOTHING
) -> Iterator[tuple[NDArray[np.uint32], Sketches]]:
    """Yields for each batch of texts their signatures, as `sign` does, and their sketches (m, bits / 8).

    The sketch of a featureless text is all zeros. `bits` is a multiple of 64 up to
    32,768, else `ValueError`. template: hashes of shingles that signatures of `oph` and sketches leave out, unless a
    text has no others.
    """
    require_bits(bits)
    table = table_of(template)
    return (_signed(batch, scheme, bits, table) for batch in texts)


def _signed(
    batch: Texts, scheme: SignatureScheme, bits: int, table: NDArray[np.uint64] = NOTHING
) -> tuple[NDArray[np.uint32], Sketches]:
    """Returns signatures and sketches; sketches have no columns if `bits` is 0."""
    cleaned, bounds = clean_batch(batch)
    rows = len(bounds) - 1
    signatures = np.full((rows, scheme.permutations), NO_SHINGLE, dtype=np.uint32)
    sketches = np.zeros((rows, bits // 8), dtype=np.uint8)
    if scheme.family != "oph":
        _minhash(cleaned, bounds, scheme, signatures)
    if scheme.family == "oph" or bits:
        _one_permutation(Texts(cleaned, bounds), scheme, table, signatures, sketches)
    return signatures, sketches


def featureless(signatures: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Returns which of signatures (n, permutations) were made from no shingle, shape (n,)."""
    return np.asarray((signatures == NO_SHINGLE).all(axis=1))


def _one_permutation(
    cleaned: Texts,
    scheme: SignatureScheme,
    table: NDArray[np.uint64],
    signatures: NDArray[np.uint32],
    sketches: Sketches,
) -> None:
    """Fills sketches (texts, bits / 8), all zeros before, of cleaned texts, and the signatures if they are of `oph`.

    Each bit is the lowest one of a slot of the one-permutation signature with so many bins, over the shingles of
    `scheme` that are not in a table.
    """
    from corpus_assets.dedup.kernels.oph import sign_and_sketch as fill

    if scheme.family != "oph":
        signatures = signatures[:, :0]
    salts = salt_of(scheme.seed), sketch_salt(scheme.seed)
    tables = rotations(signatures.shape[1], salts[0]), rotations(8 * sketches.shape[1], salts[1]), table
    shingling = int(scheme.unit == "word"), scheme.width, np.uint64(salts[0]), np.uint64(salts[1])
    out = np.ascontiguousarray(signatures), sketches.view(np.uint64)
    fill((cleaned.characters, cleaned.bounds), shingling, tables, *out)


def _minhash(
    cleaned: NDArray[np.uint8], bounds: NDArray[np.int64], scheme: SignatureScheme, signatures: NDArray[np.uint32]
) -> None:
    """Fills signatures (texts, permutations), all NO_SHINGLE before, of cleaned texts."""
    from corpus_assets.dedup.kernels.lanes import hash_shingles
    from corpus_assets.dedup.kernels.minhash import smallest_affine, smallest_legacy

    hashes, firsts = hash_shingles(cleaned, bounds, int(scheme.unit == "word"), scheme.width)
    factors, terms = _permutations(scheme)
    smallest = smallest_legacy if scheme.family == "legacy" else smallest_affine
    smallest(hashes, firsts, factors, terms, signatures)


@lru_cache
def _permutations(scheme: SignatureScheme) -> tuple[NDArray[np.unsignedinteger], NDArray[np.unsignedinteger]]:
    """Returns the factors and terms of datasketch's permutations, each of shape (permutations,)."""
    # Imported late: datasketch loads scipy, which the asset graph should not.
    from datasketch import MinHash

    factors, terms = MinHash(num_perm=scheme.permutations, seed=scheme.seed, scheme=scheme.family).permutations
    return np.ascontiguousarray(factors), np.ascontiguousarray(terms)
