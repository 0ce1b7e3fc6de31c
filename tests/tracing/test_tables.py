"""Rows are found by the bytes of their id or digest, wherever they lie and whatever the others are."""

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.tracing import tables
from corpus_assets.tracing.tables import rows_of_digest, rows_of_id, rows_that_hold

# Few letters, so that ids are parts of each other and of their neighbours together.
IDS = st.lists(st.text(alphabet="aé1/", min_size=1, max_size=5), max_size=40)


def packed(
    ids: list[str],
) -> tuple[np.ndarray[tuple[int], np.dtype[np.uint64]], np.ndarray[tuple[int], np.dtype[np.uint8]]]:
    encoded = [identifier.encode() for identifier in ids]
    ends = np.array(list(accumulate(map(len, encoded))), np.uint64)
    return ends, np.frombuffer(b"".join(encoded), np.uint8)


@given(IDS, st.text(alphabet="aé1/", min_size=1, max_size=5), st.integers(0, 3), st.integers(1, 9))
def test_an_id_is_found_in_every_row_that_has_it(ids: list[str], wanted: str, false_finds: int, window: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tables, "_FALSE_FINDS", false_finds)
        patched.setattr(tables, "_WINDOW", window)
        for sought in {wanted, *ids[:3]}:
            expected = [row for row, identifier in enumerate(ids) if identifier == sought]
            assert list(rows_of_id(*packed(ids), sought.encode())) == expected
            expected = [row for row, identifier in enumerate(ids) if sought in identifier]
            assert list(rows_that_hold(*packed(ids), sought.encode())) == expected


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(0, 3))
def test_a_digest_is_found_in_every_row_that_has_it(numbers: list[int], wanted: int) -> None:
    digests = np.zeros((len(numbers), 32), np.uint8)
    digests[:, 0] = [number % 2 for number in numbers]
    digests[:, 31] = numbers
    sought = bytes([wanted % 2, *bytes(30), wanted])
    assert list(rows_of_digest(digests, sought)) == [row for row, number in enumerate(numbers) if number == wanted]
