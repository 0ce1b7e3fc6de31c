import hashlib
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.dedup.kernels.lanes import hash_shingles
from corpus_assets.dedup.kernels.minhash import smallest_affine, smallest_legacy
from corpus_assets.dedup.kernels.sha1 import compress, hash_block, hash_half, hash_short, start_states
from corpus_assets.dedup.signatures.minhash import sign
from corpus_assets.dedup.signatures.scheme import Family, SignatureScheme

FAMILIES: tuple[Family, ...] = ("affine32", "legacy", "oph")


def first_word(message: bytes) -> int:
    return int.from_bytes(hashlib.sha1(message).digest()[:4], "little")


def padded(message: bytes) -> np.ndarray:
    """Words of a padded message of less than 56 bytes, as a column."""
    block = message + b"\x80" + bytes(55 - len(message)) + (8 * len(message)).to_bytes(8, "big")
    return np.frombuffer(block, dtype=">u4").astype(np.uint32)[:, None]


@given(st.lists(st.binary(max_size=55), min_size=1, max_size=40))
def test_sha1_of_one_block(messages: list[bytes]) -> None:
    words = np.ascontiguousarray(np.concatenate([padded(message) for message in messages], axis=1))
    states = np.empty((5, len(messages)), dtype=np.uint32)
    hashes = np.empty(len(messages), dtype=np.uint32)
    start_states(states, len(messages))
    compress(words, len(messages), states, hashes)
    assert hashes.tolist() == [first_word(message) for message in messages]
    digests = [hashlib.sha1(message).digest() for message in messages]
    assert [column.astype(">u4").tobytes() for column in states.T] == digests


@given(st.lists(st.binary(max_size=15), min_size=1, max_size=40))
def test_sha1_of_short_messages(messages: list[bytes]) -> None:
    words = np.concatenate([padded(message) for message in messages], axis=1)
    hashes = np.empty(len(messages), dtype=np.uint32)
    hash_short(np.ascontiguousarray(words[[0, 1, 2, 3, 15]]), len(messages), hashes)
    assert hashes.tolist() == [first_word(message) for message in messages]


@given(st.data())
def test_sha1_of_messages_that_leave_words_out(data: st.DataObject) -> None:
    for kernel, rows, longest in ((hash_half, 8, 31), (hash_block, 14, 55)):
        messages = data.draw(st.lists(st.binary(max_size=longest), min_size=1, max_size=40))
        words = np.concatenate([padded(message) for message in messages], axis=1)
        hashes = np.empty(len(messages), dtype=np.uint32)
        kernel(np.ascontiguousarray(words[[*range(rows), 15]]), len(messages), hashes)
        assert hashes.tolist() == [first_word(message) for message in messages]


@pytest.mark.parametrize("count", [479, 480, 481, 492, 493, 960, 973, 1500])
@pytest.mark.parametrize("alphabet", ["a", "ab\u00e9", "\u0430\u0431 ", "\u4e2da", "\U0001f600"])
def test_tiles_join_without_a_seam(alphabet: str, count: int) -> None:
    """Texts that end just before a tile does, with it, and just after."""
    text = "".join(np.random.default_rng(count).choice(list(alphabet), count))
    buffer = np.frombuffer(text.encode(), dtype=np.uint8)
    hashes, firsts = hash_shingles(buffer, np.array([0, buffer.size]), 0, 13)
    wanted = [first_word(text[i : i + 13].encode()) for i in range(count - 12)]
    assert hashes[: firsts[1]].tolist() == wanted + wanted[-1:] * (-len(wanted) % 32)


@given(
    st.lists(st.text(st.sampled_from("abc\x00\u00e9\u4e2d\U0001f600"), max_size=200), max_size=12),
    st.one_of(st.integers(1, 20), st.integers(50, 150)),
)
@settings(max_examples=30)
def test_hashes_lie_in_the_order_of_the_shingles(texts: list[str], width: int) -> None:
    """Documents share queues of short and long shingles, and still each hash finds its place."""
    bounds = np.cumsum([0] + [len(text.encode()) for text in texts])
    buffer = np.frombuffer("".join(texts).encode(), dtype=np.uint8)
    hashes, firsts = hash_shingles(buffer, bounds, 0, width)
    for document, text in enumerate(texts):
        found = hashes[firsts[document] : firsts[document + 1]].tolist()
        wanted = [first_word(text[i : i + width].encode()) for i in range(len(text) - width + 1)]
        assert found[: len(wanted)] == wanted
        assert found[len(wanted) :] == wanted[-1:] * (-len(wanted) % 32)


def test_many_lanes_of_unequal_messages() -> None:
    """More shingles than lanes, of one to seven blocks; those that end early make room for others."""
    rng = np.random.default_rng(3)
    words = ["".join(rng.choice(list("xyz"), rng.integers(1, 200))) for _ in range(3000)]
    buffer = np.frombuffer(" ".join(words).encode(), dtype=np.uint8)
    hashes, firsts = hash_shingles(buffer, np.array([0, buffer.size]), 1, 2)
    wanted = [first_word(f"{left} {right}".encode()) for left, right in pairwise(words)]
    assert hashes[: len(wanted)].tolist() == wanted
    assert firsts[1] == 3008


@pytest.mark.parametrize("count", [32, 2048, 5000 // 32 * 32])
def test_smallest_of_the_permutations(count: int) -> None:
    """Against Python's integers, with the extremes that the two moduli turn on."""
    rng = np.random.default_rng(count)
    hashes = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    hashes[:3] = 0, 1, 0xFFFFFFFF
    factors, terms = rng.integers(0, 1 << 61, (2, 9), dtype=np.uint64)
    factors[0], terms[0] = 1, (1 << 61) - 1
    values = hashes.tolist()
    numbers = list(zip(factors.tolist(), terms.tolist(), strict=True))
    legacy = [min((a * x + b) % (1 << 64) % ((1 << 61) - 1) & 0xFFFFFFFF for x in values) for a, b in numbers]
    signatures = np.full((1, 9), 0xFFFFFFFF, dtype=np.uint32)
    firsts = np.array([0, count])
    smallest_legacy(hashes, firsts, factors, terms, signatures)
    assert signatures[0].tolist() == legacy
    signatures[:] = 0xFFFFFFFF
    low_factors, low_terms = factors.astype(np.uint32), terms.astype(np.uint32)
    smallest_affine(hashes, firsts, low_factors, low_terms, signatures)
    mixed = [fmix32(x) for x in values]
    pairs = zip(low_factors.tolist(), low_terms.tolist(), strict=True)
    assert signatures[0].tolist() == [min((a * x + b) % (1 << 32) for x in mixed) for a, b in pairs]


def fmix32(value: int) -> int:
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        value = ((value ^ value >> shift) * factor) & 0xFFFFFFFF
    return value ^ value >> 16


def digest_of_signatures() -> str:
    """Of all families over texts in several scripts; the same on every processor."""
    rng = np.random.default_rng(11)
    alphabets = ["abcdefgh  .", "abcdefg \u00c9\u03a3\u4e2d", "\u0430\u0431\u0432 ", "\U0001f600\U0001f601 "]
    texts = ["".join(rng.choice(list(alphabet), size)) for alphabet in alphabets for size in (9, 40, 700, 5000)]
    digest = hashlib.sha256()
    for family in FAMILIES:
        for scheme in (SignatureScheme(family, 130), SignatureScheme(family, 20, 3, 4, "word")):
            for block in sign(texts, scheme):
                digest.update(block.tobytes())
    return digest.hexdigest()


@pytest.mark.slow
def test_any_processor_makes_the_same_signatures(tmp_path: Path) -> None:
    """Compiled for the plainest processor of this architecture: no AVX-512, no AVX2, other vector widths."""
    code = "from tests.dedup.kernels.test_kernels import digest_of_signatures; print(digest_of_signatures())"
    plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    folder = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | plain, cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == digest_of_signatures()
