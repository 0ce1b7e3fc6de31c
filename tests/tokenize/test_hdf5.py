"""The HDF5 file: equal to plain h5py, streamed, deterministic, and nothing outside it is trusted."""

import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from resources.errors import BadFileError
from resources.formats.hdf5.chunks import StoredBlock, inflated_blocks
from resources.formats.hdf5.layout import LM_FEATURES, VSL_FEATURES, Attribute
from resources.formats.hdf5.reader import read_hdf5
from resources.formats.hdf5.writer import CHUNKS_AT_ONCE, WriteSummary, write_hdf5

ATTRIBUTES: dict[str, Attribute] = {
    "mode": "LMData",
    "eos_id": 0,
    "rate": 0.5,
    "sources": ["a", "b"],
    "f": True,
}


def block(rows: int, channels: int = 3, length: int = 8, seed: int = 0) -> NDArray[np.int32]:
    values = np.random.default_rng(seed).integers(-5, 2**31 - 1, (rows, channels, length))
    return values.astype(np.int32)


def written(blocks: Sequence[NDArray[np.int32] | StoredBlock], **options: Any) -> tuple[bytes, WriteSummary]:
    target = io.BytesIO()
    summary = write_hdf5(target, blocks, ATTRIBUTES, features=LM_FEATURES, sequence_length=8, **options)
    return target.getvalue(), summary


@given(st.lists(st.integers(0, 40), max_size=5), st.integers(1, 20))
def test_plain_h5py_reads_the_same_rows(sizes: list[int], rows_per_chunk: int) -> None:
    blocks = [block(size, seed=index) for index, size in enumerate(sizes)]
    raw, summary = written(blocks, rows_per_chunk=rows_per_chunk)
    with h5py.File(io.BytesIO(raw)) as file:
        data = file["data"]
        assert (data.dtype, data.compression, data.shuffle) == (np.dtype("<i4"), "gzip", True)
        assert data.shape == summary.shape == (sum(sizes), 3, 8)
        assert file.attrs["n_examples"] == summary.rows == sum(sizes)
        np.testing.assert_array_equal(data[:], np.concatenate([block(0), *blocks]))


@given(st.lists(st.sampled_from([0, 1, 0xFF, 0x100, 0xFFFF, 0x10000, 0xFFFFFF, 0x1000000, -1]), max_size=9))
def test_every_width_of_ids_is_read_by_every_reader(largest: list[int]) -> None:
    rows = np.array(largest, np.int32)[:, None, None] & block(len(largest))
    raw, summary = written([rows], rows_per_chunk=2)
    with h5py.File(io.BytesIO(raw)) as file:
        np.testing.assert_array_equal(file["data"][:], rows)
    with read_hdf5(io.BytesIO(raw)) as ours:
        np.testing.assert_array_equal(ours[:], rows)
        assert ours.digest() == summary.content_digest


@given(st.integers(0, 50), st.integers(1, 50))
def test_bytes_and_digest_do_not_depend_on_blocks(rows: int, step: int) -> None:
    whole = block(rows)
    assert written([whole]) == written([whole[first : first + step] for first in range(0, rows, step)])


@given(st.integers(0, 9), st.integers(1, 3), st.integers(1, 3))
def test_stored_rows_are_copied_to_files_of_any_chunks(rows: int, read_chunk: int, rows_per_chunk: int) -> None:
    raw, summary = written([block(rows)], rows_per_chunk=read_chunk)
    with read_hdf5(io.BytesIO(raw)) as reader:
        stored = list(inflated_blocks([reader.row_chunks(0, rows)], (3, 8)))
    copied, again = written(stored, rows_per_chunk=rows_per_chunk)
    assert again == summary
    with h5py.File(io.BytesIO(copied)) as file:
        np.testing.assert_array_equal(file["data"][:], block(rows))


def test_a_stored_row_is_not_deflated_again() -> None:
    made_elsewhere = b"a chunk that nobody reads"
    raw, _ = written([StoredBlock(block(1), [made_elsewhere])], rows_per_chunk=1)
    with h5py.File(io.BytesIO(raw)) as file:
        assert file["data"].id.read_direct_chunk((0, 0, 0)) == (0, made_elsewhere)


@pytest.mark.parametrize("size", [95, 97])
def test_a_stored_row_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(OSError, match="does not hold 96 bytes"):
        list(inflated_blocks([[zlib.compress(bytes(size))]], (3, 8)))


def test_digest_covers_rows_and_attributes() -> None:
    rows = block(5)
    digests = {written([rows])[1].content_digest, written([rows[:4]])[1].content_digest}
    for features, attributes in ((LM_FEATURES, {**ATTRIBUTES, "eos_id": 1}), (("a", "b", "c"), ATTRIBUTES)):
        summary = write_hdf5(io.BytesIO(), [rows], attributes, features=features, sequence_length=8)
        digests.add(summary.content_digest)
    assert len(digests) == 4
    # Layout is no content.
    assert written([rows], rows_per_chunk=3)[1].content_digest == written([rows])[1].content_digest


def test_reader_gives_back_attributes_rows_and_digest() -> None:
    raw, summary = written([block(37)])
    with read_hdf5(io.BytesIO(raw)) as reader:
        assert (reader.n, reader.features, reader.sequence_length) == (37, LM_FEATURES, 8)
        assert {name: reader.attributes[name] for name in ATTRIBUTES} == ATTRIBUTES
        assert reader.digest() == reader.attributes["content_digest"] == summary.content_digest
        assert [len(part) for part in reader.blocks(rows=10)] == [10, 10, 10, 7]
        np.testing.assert_array_equal(np.concatenate(list(reader.blocks())), block(37))


def test_file_without_rows_keeps_its_shape(tmp_path: Path) -> None:
    path = tmp_path / "empty.h5"
    with path.open("w+b") as target:
        write_hdf5(target, [], {}, features=VSL_FEATURES, sequence_length=16)
    with h5py.File(path) as file:
        assert file["data"].shape == (0, 5, 16)
        assert file.attrs["n_examples"] == 0
    with path.open("rb") as source, read_hdf5(source) as reader:
        assert list(reader.blocks()) == []


def test_blocks_are_pulled_one_at_a_time() -> None:
    alive = []

    def blocks() -> Iterator[NDArray[np.int32]]:
        for seed in range(20):
            alive.append(target.tell())
            yield block(128, length=256, seed=seed)

    target = io.BytesIO()
    write_hdf5(target, blocks(), {}, features=LM_FEATURES, sequence_length=256)
    assert alive[-1] > alive[1] > 0  # the file grows while blocks are still being asked for


@pytest.mark.parametrize(
    "wrong", [block(2, channels=4), block(2, length=9), block(2).astype(np.int64), block(2).reshape(6, 8)]
)
def test_wrong_blocks_are_refused(wrong: NDArray[np.int32]) -> None:
    with pytest.raises(ValueError, match="received a block"):
        written([wrong])


def test_reserved_attributes_are_refused() -> None:
    with pytest.raises(ValueError, match="n_examples"):
        write_hdf5(io.BytesIO(), [], {"n_examples": 3}, features=LM_FEATURES, sequence_length=8)


def _external_link(file: h5py.File) -> None:
    file["data"] = h5py.ExternalLink("elsewhere.h5", "data")


def _virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout((2, 3, 8), "<i4")
    layout[:] = h5py.VirtualSource("elsewhere.h5", "data", (2, 3, 8))
    file.create_virtual_dataset("data", layout)


def _external_storage(file: h5py.File) -> None:
    file.create_dataset("data", (2, 3, 8), "<i4", external=[("elsewhere.bin", 0, 192)])


def _group(file: h5py.File) -> None:
    file.create_group("data")


def _floats(file: h5py.File) -> None:
    file["data"] = np.zeros((2, 3, 8), np.float32)


def _flat(file: h5py.File) -> None:
    file["data"] = np.zeros(8, np.int32)


def _no_count(file: h5py.File) -> None:
    file["data"] = np.zeros((2, 3, 8), np.int32)


def _wrong_count(file: h5py.File) -> None:
    file["data"] = np.zeros((2, 3, 8), np.int32)
    file.attrs["n_examples"] = 3


def _wrong_features(file: h5py.File) -> None:
    file["data"] = np.zeros((2, 3, 8), np.int32)
    file.attrs["n_examples"] = 2
    file.attrs["features"] = ["input_ids"]


def _no_positions(file: h5py.File) -> None:
    file["data"] = np.zeros((2, 3, 0), np.int32)
    file.attrs["n_examples"] = 2


def _giant_chunk(file: h5py.File) -> None:
    file.create_dataset("data", (1 << 20, 3, 1024), "<i4", chunks=(1 << 16, 3, 1024), compression="gzip")
    file.attrs["n_examples"] = 1 << 20


def _nothing(file: h5py.File) -> None:
    file.attrs["n_examples"] = 0


@pytest.mark.parametrize(
    "fill",
    [
        *(_external_link, _virtual, _external_storage, _group, _floats, _flat, _no_count, _wrong_count),
        *(_wrong_features, _no_positions, _giant_chunk, _nothing),
    ],
)
def test_files_that_are_not_token_rows_are_refused(fill: Callable[[h5py.File], None]) -> None:
    raw = io.BytesIO()
    with h5py.File(raw, "w") as file:
        fill(file)
    with pytest.raises(BadFileError, match=r"rows\.h5"):
        read_hdf5(raw, "rows.h5")


@pytest.mark.parametrize("raw", [b"", b"not hdf5", written([block(20)])[0][:300]])
def test_cut_files_are_refused(raw: bytes) -> None:
    with pytest.raises(BadFileError, match="not an HDF5 file"):
        read_hdf5(io.BytesIO(raw))


@pytest.mark.parametrize("bit", [0, 3, 6])
def test_a_flipped_bit_is_no_other_error(bit: int) -> None:
    """h5py raises almost anything over addresses and messages that are not what they were."""
    whole, refused = written([block(64)], rows_per_chunk=16)[0], 0
    for place in range(0, min(len(whole), 4000), 2):
        raw = bytearray(whole)
        raw[place] ^= 1 << bit
        try:
            with read_hdf5(io.BytesIO(bytes(raw)), "x.h5") as reader:
                list(reader.blocks())
        except BadFileError as error:
            refused += "x.h5" in str(error)
    assert refused > 50


def test_damaged_rows_are_reported() -> None:
    whole = written([block(64)], rows_per_chunk=16)[0]
    with h5py.File(io.BytesIO(whole)) as file:
        chunk = file["data"].id.get_chunk_info(2)
    for place, damage in ((chunk.byte_offset, b"\xff" * 40), (chunk.byte_offset + chunk.size - 4, b"abcd")):
        raw = bytearray(whole)
        raw[place : place + len(damage)] = damage
        with read_hdf5(io.BytesIO(bytes(raw))) as reader:
            np.testing.assert_array_equal(reader[:32], block(64)[:32])
            with pytest.raises(BadFileError, match="cannot be read"):
                list(reader.blocks())


@pytest.mark.parametrize("stored", [zlib.compress(bytes(100)), zlib.compress(bytes(1 << 20)), zlib.compress(b"")[:4]])
def test_chunks_of_another_size_are_reported(stored: bytes) -> None:
    target = io.BytesIO(written([block(32)], rows_per_chunk=16)[0])
    with h5py.File(target, "r+") as file:
        file["data"].id.write_direct_chunk((16, 0, 0), stored)
    with read_hdf5(target) as reader, pytest.raises(BadFileError, match="rows from 20"):
        reader[20:21]


@given(st.integers(0, 40), st.integers(0, 45), st.integers(0, 45), st.integers(1, 20))
def test_ranges_of_rows(rows: int, first: int, last: int, rows_per_chunk: int) -> None:
    with read_hdf5(io.BytesIO(written([block(rows)], rows_per_chunk=rows_per_chunk)[0])) as reader:
        np.testing.assert_array_equal(reader[first:last], block(rows)[first:last])
        np.testing.assert_array_equal(reader[-3:], block(rows)[-3:])
        np.testing.assert_array_equal(np.concatenate([block(0), *reader.blocks(rows=1)]), block(rows))
        with pytest.raises(ValueError, match="consecutive"):
            reader[::2]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chunks": (5, 3, 8)},
        {"chunks": (1, 3, 8), "compression": "gzip"},
        {"chunks": (4, 1, 8), "compression": "gzip", "shuffle": True},
        {"chunks": (4, 3, 8), "compression": "gzip", "shuffle": True, "fletcher32": True},
        {"chunks": (4, 3, 8), "compression": "gzip", "shuffle": True},
    ],
)
def test_other_layouts_are_read(options: dict[str, Any]) -> None:
    target = io.BytesIO()
    with h5py.File(target, "w") as file:
        data = file.create_dataset("data", (33, 3, 8), "<i4", fillvalue=7, **options)
        data[10:] = block(23)  # chunks before row 10 are not stored
        file.attrs["n_examples"] = 33
    with read_hdf5(target) as reader:
        rows = np.concatenate(list(reader.blocks(rows=7)))
        assert (rows[:10] == 7).all()
        np.testing.assert_array_equal(rows[10:], block(23))
        np.testing.assert_array_equal(reader[9:12], rows[9:12])


@pytest.mark.parametrize(("length", "rows"), [(128, 8), (512, 2), (1024, 1), (2048, 1), (1 << 17, 1)])
def test_a_random_row_costs_its_own_chunk(length: int, rows: int) -> None:
    """One row a chunk, as Cerebras has it; only rows too short to be worth a chunk share one."""
    target = io.BytesIO()
    write_hdf5(target, [block(1, length=length)], {}, features=LM_FEATURES, sequence_length=length)
    with h5py.File(target) as file:
        assert file["data"].chunks == (rows, 3, length)


@given(st.integers(CHUNKS_AT_ONCE - 2, CHUNKS_AT_ONCE + 2), st.integers(1, 3), st.integers(1, 50))
def test_room_made_ahead_leaves_no_trace(chunks: int, rows_per_chunk: int, step: int) -> None:
    rows = block(chunks * rows_per_chunk)
    blocks = [rows[first : first + step] for first in range(0, len(rows), step)]
    raw, _ = written(blocks, rows_per_chunk=rows_per_chunk)
    assert raw == written([rows], rows_per_chunk=rows_per_chunk)[0]
    with h5py.File(io.BytesIO(raw)) as file:
        assert file["data"].shape == rows.shape
        assert file["data"].id.get_num_chunks() == chunks
        np.testing.assert_array_equal(file["data"][:], rows)


def test_chunks_skipped_by_a_filter_are_not_read_as_if_they_were_not() -> None:
    target = io.BytesIO(written([block(32)], rows_per_chunk=16)[0])
    with h5py.File(target, "r+") as file:
        file["data"].id.write_direct_chunk((16, 0, 0), bytes(16 * 3 * 8 * 4), filter_mask=3)
    with read_hdf5(target) as reader, pytest.raises(BadFileError, match="rows from"):
        list(reader.blocks())


@pytest.mark.parametrize("between", [0, 50_000])
def test_chunks_in_any_order_and_far_apart_are_read(between: int) -> None:
    """Rows of small chunks are read from the file together, but not what lies between distant ones."""
    rows, target = block(6, seed=3), io.BytesIO()
    with h5py.File(target, "w") as file:
        data = file.create_dataset("data", rows.shape, "<i4", chunks=(1, 3, 8), shuffle=True, compression="gzip")
        for number in reversed(range(len(rows))):
            data[number] = rows[number]
            file.flush()
            file[f"other {number}"] = np.ones(between, np.int8)
        file.attrs["n_examples"] = len(rows)
    with read_hdf5(target) as found:
        assert [part.tolist() for part in found.blocks(4)] == [rows[:4].tolist(), rows[4:].tolist()]
        assert found[2:5].tolist() == rows[2:5].tolist()


@given(length=st.integers(1, 4), rows=st.integers(1, 9), rows_per_chunk=st.integers(1, 3), seed=st.integers(0, 99))
def test_chunks_of_a_few_values_are_larger_than_these_and_read(
    length: int, rows: int, rows_per_chunk: int, seed: int
) -> None:
    values = np.random.default_rng(seed).integers(-(2**31), 2**31, (rows, 3, length)).astype(np.int32)
    target = io.BytesIO()
    write_hdf5(target, [values], {}, features=LM_FEATURES, sequence_length=length, rows_per_chunk=rows_per_chunk)
    with read_hdf5(target) as found:
        assert np.array_equal(np.concatenate([*found.blocks()]), values)
        assert np.array_equal(found[:1], values[:1])
        assert len(found.row_chunks(0, rows)) == rows
