"""Plain implementations of what the kernels compute, in numpy, datasketch and Python: slow, and easy to read.

Tests hold the kernels against them.
"""

import numpy as np
from datasketch import MinHash
from numpy.typing import NDArray

from corpus_assets.dedup.constants import LARGEST, MULTIPLIER, NO_SHINGLE
from corpus_assets.dedup.signatures.one_permutation import mix64, rotations, salt_of, sketch_salt
from corpus_assets.dedup.signatures.scheme import SignatureScheme, Unit
from resources.documents.slimpajama_cleaning import clean

_HALF = np.uint64(32)
_SPACE = 32
_SHINGLES_PER_UPDATE = 1 << 12


def cleaned_bytes(text: str) -> bytes:
    return clean(text).encode("utf-8", "surrogatepass")


def shingles(text: str, scheme: SignatureScheme) -> set[bytes]:
    """Shingles of an uncleaned text, from Python's code points or words."""
    cleaned = clean(text)
    units, glue = (cleaned.split(), " ") if scheme.unit == "word" else (list(cleaned), "")
    windows = (glue.join(units[i : i + scheme.width]) for i in range(len(units) - scheme.width + 1))
    return {window.encode("utf-8", "surrogatepass") for window in windows}


def signatures(texts: list[str], scheme: SignatureScheme) -> NDArray[np.uint32]:
    """Signatures (texts, permutations) of uncleaned texts: datasketch's own, or `one_permutation`."""
    rows = [_one_permutation_of(text, scheme) if scheme.family == "oph" else _minhash(text, scheme) for text in texts]
    return np.array(rows, dtype=np.uint32).reshape(-1, scheme.permutations)


def sketch(text: str, scheme: SignatureScheme, bits: int) -> NDArray[np.uint8]:
    """Sketch (bits / 8,) of an uncleaned text: the lowest bits of its one-permutation signature."""
    salt = sketch_salt(scheme.seed)
    hashes = window_hashes(cleaned_bytes(text), scheme.unit, scheme.width, salt)
    slots = one_permutation(hashes, bits, salt)
    return np.packbits(slots & 1 if hashes.size else slots * 0, bitorder="little")


def window_hashes(cleaned: bytes, unit: Unit, width: int, salt: int = 0) -> NDArray[np.uint64]:
    """Salted hashes (windows,) of all windows of `width` units, in order (definition: kernels/polynomial.py)."""
    text = np.frombuffer(cleaned, dtype=np.uint8)
    starts, ends = unit_spans(text, unit)
    out = np.zeros(max(0, starts.size - width + 1), dtype=np.uint64)
    if out.size:
        values = _word_values(text, starts, ends) if unit == "word" else _point_values(text, starts, ends)
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


def one_permutation(hashes: NDArray[np.uint64], bins: int, salt: int) -> NDArray[np.uint32]:
    """Signature (bins,) of a set of salted hashes (definition: signatures/one_permutation.py)."""
    signature = np.full(bins, NO_SHINGLE, dtype=np.uint32)
    values = np.minimum(hashes & np.uint64(NO_SHINGLE), np.uint64(LARGEST)).astype(np.uint32)
    places = ((hashes >> _HALF) * np.uint64(bins) >> _HALF).astype(np.intp)
    np.minimum.at(signature, places, values)
    empty = signature == NO_SHINGLE
    waiting = np.flatnonzero(empty)
    for rotation in rotations(bins, salt) if hashes.size else ():
        sources = (waiting + rotation) % bins
        found = ~empty[sources]
        signature[waiting[found]] = signature[sources[found]]
        waiting = waiting[~found]
        if not waiting.size:
            break
    return signature


def grow(
    order: NDArray[np.int64],
    links: tuple[NDArray[np.int64], NDArray[np.int64]],
    sketches: NDArray[np.uint64],
    least: int,
    paired: bool,
) -> NDArray[np.int64]:
    """Group of each node, as `kernels.growth.grow`, but a whole front of neighbours at a time."""
    starts, neighbours = links
    groups = np.full(len(order), -1, dtype=np.int64)
    refused_by = np.full(len(order), -1, dtype=np.int64)
    group = 0
    for leader in order.tolist():
        if groups[leader] >= 0:
            continue
        groups[leader] = group
        front = [leader]
        while front:
            near = np.concatenate([neighbours[starts[node] : starts[node + 1]] for node in front])
            near = np.unique(near[(groups[near] < 0) & (refused_by[near] != group)])
            agreeing = np.bitwise_count(~(sketches[near] ^ sketches[leader])).sum(axis=1)
            resembles = (agreeing >= least) | (paired and front == [leader])
            groups[near[resembles]] = group
            refused_by[near[~resembles]] = group
            front = near[resembles].tolist()
        group += 1
    return groups


def _one_permutation_of(text: str, scheme: SignatureScheme) -> NDArray[np.uint32]:
    salt = salt_of(scheme.seed)
    hashes = window_hashes(cleaned_bytes(text), scheme.unit, scheme.width, salt)
    return one_permutation(hashes, scheme.permutations, salt)


def _minhash(text: str, scheme: SignatureScheme) -> NDArray[np.unsignedinteger]:
    made = MinHash(num_perm=scheme.permutations, seed=scheme.seed, scheme=scheme.family)
    found = list(shingles(text, scheme))
    for first in range(0, len(found), _SHINGLES_PER_UPDATE):
        made.update_batch(found[first : first + _SHINGLES_PER_UPDATE])
    return np.asarray(made.hashvalues)


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
