"""What a disk holds after a power cut: of each sector some write since the last flush, or what was there before."""

import io
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.power.cuts import (
    FLUSH,
    HEAD,
    HOWS,
    MARK,
    SECTOR,
    WRITE,
    Cut,
    Entry,
    apply,
    between,
    cuts,
    entries,
    some_sectors,
)

SIZE = 8 * SECTOR
writes = st.builds(
    lambda sector, sectors, byte: Entry(WRITE, sector * SECTOR, bytes([byte]) * (sectors * SECTOR)),
    st.integers(0, 4),
    st.integers(1, 4),
    st.integers(1, 255),
)
logs = st.lists(st.one_of(writes, st.just(Entry(FLUSH)), st.just(Entry(MARK, 0, b"said"))), max_size=30)


def logged(found: list[Entry]) -> io.BytesIO:
    return io.BytesIO(b"".join(HEAD.pack(one.kind, one.offset, len(one.data)) + one.data for one in found))


def possible(found: list[Entry]) -> list[set[int]]:
    """Bytes that each sector may have after all of these entries."""
    sectors = [{0} for _ in range(SIZE // SECTOR)]
    for entry in found:
        if entry.kind == WRITE:
            for number in range(len(entry.data) // SECTOR):
                sectors[entry.offset // SECTOR + number].add(entry.data[0])
        elif entry.kind == FLUSH:
            sectors = [{one.pop()} if len(one) == 1 else one for one in sectors]
    return sectors


def last(found: list[Entry]) -> list[int]:
    """The byte of each sector where all writes arrived."""
    image = io.BytesIO(bytes(SIZE))
    apply([one for one in found if one.kind == WRITE], image)
    return list(image.getvalue()[::SECTOR])


def flushed(found: list[Entry]) -> list[Entry]:
    ends = [place for place, one in enumerate(found) if one.kind == FLUSH]
    return found[: ends[-1]] if ends else []


@given(logs, st.data())
def test_all_that_was_flushed_is_there_and_of_the_rest_whole_sectors(found: list[Entry], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, max(0, len(found) - 1)))
    durable = io.BytesIO(bytes(SIZE))
    for cut in cuts(logged(found), durable, [place] if found else []):
        before = found[:place]
        assert list(durable.getvalue()[::SECTOR]) == last(flushed(before))
        assert cut.marks == ["said"] * sum(one.kind == MARK for one in before)
        since = [one for one in before[len(flushed(before)) :] if one.kind == WRITE]
        assert cut.pending == since
        for how in HOWS:
            image = io.BytesIO(durable.getvalue())
            apply(cut.lost(how, 0), image)
            content = image.getvalue()
            sectors = [content[start : start + SECTOR] for start in range(0, SIZE, SECTOR)]
            assert all(len(set(one)) == 1 for one in sectors)
            now = [one[0] for one in sectors]
            if how == "all":
                assert now == last(before)
            elif how == "nothing":
                assert now == last(flushed(before))
            else:
                old = zip(last(flushed(before)), possible(since), strict=True)
                assert all(byte in {kept} | newer for byte, (kept, newer) in zip(now, old, strict=True))


@pytest.mark.parametrize("wanted", [b"", b"a" * SECTOR, b"a" * SECTOR + b"b" * SECTOR])
def test_some_sectors_of_a_write_are_its_beginning_or_its_end(wanted: bytes) -> None:
    write, seen = Entry(WRITE, 4096, b"a" * SECTOR + b"b" * SECTOR), set[bytes]()
    for seed in range(200):
        for part in some_sectors(write, Random(seed)):
            assert part.data == write.data[part.offset - 4096 :][: len(part.data)]
            seen.add(part.data)
    assert wanted in seen


def test_a_log_that_was_cut_off_has_the_entries_before() -> None:
    whole = [Entry(WRITE, 0, b"x" * 9), Entry(FLUSH), Entry(WRITE, 9, b"y")]
    content = logged(whole).getvalue()
    assert list(entries(io.BytesIO(content))) == whole
    assert list(entries(io.BytesIO(content[:-1]))) == whole[:2]
    assert list(entries(io.BytesIO(content[: HEAD.size + 3]))) == []


def test_places_lie_after_the_first_build_began(tmp_path_factory: pytest.TempPathFactory) -> None:
    log = tmp_path_factory.mktemp("log") / "log"
    before = [Entry(WRITE, 0, b"x")] * 50
    rest: Iterator[Entry] = (Entry(WRITE, 0, b"y") if n % 7 else Entry(FLUSH) for n in range(200))
    log.write_bytes(logged([*before, Entry(MARK, 0, b"first"), *rest]).getvalue())
    found = between(log, "first", 20, 3)
    assert found == sorted(set(found)) and len(found) >= 18
    assert min(found) > 50 and max(found) < 251
    assert found == between(log, "first", 20, 3) != between(log, "first", 20, 4)


def test_a_cut_has_the_same_sectors_for_the_same_seed() -> None:
    cut = Cut(3, [], [Entry(WRITE, number * SECTOR, b"z" * 8 * SECTOR) for number in range(9)])
    assert list(cut.lost("some", 1)) == list(cut.lost("some", 1)) != list(cut.lost("some", 2))
