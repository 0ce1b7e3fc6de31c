"""Joined writes leave the same file as plain ones, in fewer writes."""

import io
import subprocess
import sys
from collections.abc import Iterator
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from typing_extensions import override

from resources.errors import JobTimeoutError, StorageError
from resources.formats.hdf5.joined import AT_ONCE, JoinedWrites
from resources.formats.hdf5.writer import write_hdf5

PLACE = st.integers(0, 40)
STEPS = st.lists(
    st.tuples(st.just("write"), st.binary(max_size=9))
    | st.tuples(st.sampled_from(["seek", "read", "truncate"]), PLACE)
    | st.tuples(st.sampled_from(["flush", "end"]), st.none())
)


class Counted(io.BytesIO):
    """Counts its writes."""

    writes = 0

    @override
    def write(self, content: object, /) -> int:
        self.writes += 1
        return super().write(content)  # type: ignore[arg-type]


def step(file: io.BytesIO | JoinedWrites, name: str, value: object) -> object:
    if name == "end":
        return file.seek(0, io.SEEK_END)
    return getattr(file, name)(*([] if value is None else [value]))


@given(STEPS)
def test_any_order_of_calls_gives_the_file_of_plain_writes(steps: list[tuple[str, object]]) -> None:
    target, plain = io.BytesIO(), io.BytesIO()
    joined = JoinedWrites(target)
    for name, value in steps:
        assert step(joined, name, value) == step(plain, name, value)
        assert joined.tell() == plain.tell()
    joined.flush()
    assert target.getvalue() == plain.getvalue()


def test_neighbours_are_one_write_and_little_is_held() -> None:
    target = Counted()
    joined = JoinedWrites(target)
    for place in range(0, 3 * AT_ONCE, 1024):
        joined.seek(place)
        joined.write(bytes(1024))
        assert place - len(target.getvalue()) <= AT_ONCE
    joined.flush()
    assert target.writes == 3
    assert len(target.getvalue()) == 3 * AT_ONCE


class Failing(io.BytesIO):
    """A disk that fails at one of its calls, and goes on. failed: its name. raises: another error than a full disk."""

    failed = ""

    def __init__(self, at: int, raises: BaseException | None = None) -> None:
        super().__init__()
        self._left = at
        self._raises = raises

    def _call(self, name: str) -> None:
        if not self._left:
            self.failed = name
        self._left -= 1
        if self._left == -1:
            raise self._raises or OSError(28, f"No space left on device while {name}", "a.h5")

    @override
    def seek(self, *given: int) -> int:
        self._call("seek")
        return super().seek(*given)

    @override
    def write(self, content: object, /) -> int:
        self._call("write")
        return super().write(content)  # type: ignore[arg-type]

    @override
    def truncate(self, size: int | None = None, /) -> int:
        self._call("truncate")
        return super().truncate(size)

    @override
    def flush(self) -> None:
        self._call("flush")
        super().flush()


def test_the_first_error_of_the_disk_is_raised_whatever_hdf5_does_after_it() -> None:
    rows = np.random.default_rng(1).integers(0, 1 << 30, (600, 3, 256)).astype(np.int32)
    failed = set()
    for at in count():
        target = Failing(at)
        try:
            write_hdf5(target, [rows], {}, features=["a", "b", "c"], sequence_length=256)
        except Exception as error:
            assert repr(error) == repr(OSError(28, f"No space left on device while {target.failed}"))
            failed.add(target.failed)
        else:
            break
    assert not target.failed
    assert failed == {"seek", "write", "truncate", "flush"}


@pytest.mark.parametrize("kind", [JobTimeoutError, KeyboardInterrupt, MemoryError, StorageError])
def test_so_is_a_time_limit_and_what_else_meets_the_disk_there(kind: type[BaseException]) -> None:
    rows = np.random.default_rng(1).integers(0, 1 << 30, (600, 3, 256)).astype(np.int32)
    for at in count():
        target = Failing(at, kind("the first"))
        try:
            write_hdf5(target, [rows], {}, features=["a", "b", "c"], sequence_length=256)
        except BaseException as error:
            assert repr(error) == repr(kind("the first"))
        else:
            break
    assert at > 20


@pytest.mark.parametrize("at", range(4))
def test_hdf5_hears_of_no_error(at: int) -> None:
    target = Failing(at)
    joined = JoinedWrites(target)
    assert joined.write(b"abc") == 3
    assert joined.truncate(9) == 9
    assert joined.seek(0) == 0
    assert joined.read(3) in (b"abc", bytes(3))
    joined.flush()
    with pytest.raises(OSError, match=f"No space left on device while {target.failed}"):
        joined.require_written()


def test_no_further_block_is_taken_after_an_error_of_the_disk() -> None:
    def blocks() -> Iterator[NDArray[np.int32]]:
        yield rows
        raise AssertionError("the next block was asked for")

    rows = np.random.default_rng(1).integers(0, 1 << 30, (600, 3, 256)).astype(np.int32)
    with pytest.raises(OSError, match="No space left"):
        write_hdf5(Failing(2), blocks(), {}, features=["a", "b", "c"], sequence_length=256)


def test_a_process_with_such_an_error_ends_as_others() -> None:
    code = """if True:
        import errno, io
        from resources.formats.hdf5.writer import write_hdf5

        class Failing(io.BytesIO):
            def seek(self, *_):
                raise OSError(errno.EIO, "the disk fails")

        try:
            write_hdf5(Failing(), [], {}, features=["a"], sequence_length=4)
        except OSError as error:
            print(error)
    """
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "[Errno 5] the disk fails\n"), found.stderr


def test_an_error_of_another_is_not_replaced() -> None:
    def blocks() -> object:
        raise ValueError("of the blocks")
        yield

    with pytest.raises(ValueError, match="of the blocks"):
        write_hdf5(io.BytesIO(), blocks(), {}, features=["a"], sequence_length=4)  # type: ignore[arg-type]
