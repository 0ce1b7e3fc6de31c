"""Joined writes leave the same file as plain ones, in fewer writes."""

import io

from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from resources.formats.hdf5.joined import AT_ONCE, JoinedWrites

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
