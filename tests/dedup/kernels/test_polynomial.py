"""The hashes of sliding windows, against their definition."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.dedup.constants import MULTIPLIER
from corpus_assets.dedup.kernels.polynomial import hash_windows
from corpus_assets.dedup.signatures.one_permutation import mix64
from tests.normalize.test_scan import RUNS

SALT = 77


def by_definition(units: list[int], width: int) -> Iterator[int]:
    for start in range(len(units) - width + 1):
        polynomial = 0
        for unit in units[start : start + width]:
            polynomial = (polynomial * MULTIPLIER + unit) % (1 << 64)
        yield int(mix64(np.array([polynomial ^ SALT], dtype=np.uint64))[0])


def hashes(text: str, width: int) -> list[int]:
    out = np.empty(max(len(text) - width + 1, 0), dtype=np.uint64)
    hash_windows(np.frombuffer(bytearray(text.encode()), dtype=np.uint8), 0, width, np.uint64(SALT), out)
    return [int(value) for value in out]


@given(st.one_of(RUNS, st.text(st.characters(codec="utf-8"))), st.sampled_from([1, 2, 5, 13, 64, 70]))
def test_windows_of_code_points(text: str, width: int) -> None:
    units = [int.from_bytes(character.encode(), "big") for character in text]
    assert hashes(text, width) == list(by_definition(units, width))


@pytest.mark.parametrize("length", [*range(76, 84), 140, 141, 300, 1023, 1024, 1040, 5000])
@pytest.mark.parametrize("place", [0, 13, 63, 64, 77, 1024, None])
def test_stretches_of_ascii_of_every_length(length: int, place: int | None) -> None:
    letters = [chr(97 + number * 7 % 26) for number in range(length)]
    if place is not None and place < length:
        letters[place] = "\u00e9"
    units = [int.from_bytes(letter.encode(), "big") for letter in letters]
    assert hashes("".join(letters), 13) == list(by_definition(units, 13))
