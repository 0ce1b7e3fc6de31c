"""The digest of a file in memory is that of the file as it is stored, for every format that has both."""

from functools import partial
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.errors import LedgerError
from resources.formats.arrays import ARRAYS, ArrayWriter
from resources.formats.file_format import PLAIN
from resources.formats.known import format_of


def array(rows: list[int], shape: tuple[int, ...]) -> bytes:
    file = BytesIO()
    writer = ArrayWriter(file, np.int32, shape)
    writer.append(np.array(rows, np.int32).reshape(-1, *shape))
    writer.finish()
    return file.getvalue()


def opened(stored: bytes, path: str) -> BytesIO:
    del path
    return BytesIO(stored)


@given(st.lists(st.integers(-9, 9)), st.binary())
def test_digests_are_equal(rows: list[int], content: bytes) -> None:
    for path, stored in (("a.npy", array(rows, ())), ("b.npy", array(rows * 2, (2,))), ("c.json", content)):
        format_ = format_of(path)
        assert format_.of_content is not None
        assert format_.of_content(stored, path) == format_.digest(partial(opened, stored), path)


@given(st.binary(max_size=300))
def test_what_is_no_array_is_refused(content: bytes) -> None:
    assert ARRAYS.of_content is not None
    with pytest.raises(LedgerError, match=r"a\.npy: not an array of this store"):
        ARRAYS.of_content(content, "a.npy")


def test_formats_that_read_more_than_their_bytes_have_none() -> None:
    assert PLAIN.of_content is not None
    assert [format_of(path).of_content for path in ("a.jsonl.gz", "a.jsonl.zst", "a.h5")] == [None] * 3
