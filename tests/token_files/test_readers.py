"""What is read of good files of every format, written by hand."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.token_files import documents as whole
from corpus_assets.token_files import mds as mds_format
from corpus_assets.token_files import megatron as megatron_format
from corpus_assets.token_files import pieces, raw_ids
from tests.token_files import writing
from tests.token_files.given import files_read
from tests.token_files.writing import PLAIN, ROWS

RECORDED = Path(__file__).parents[1] / "export" / "recorded"
lists = st.lists(st.lists(st.integers(1, 999), max_size=9), max_size=12)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few ids, so that documents and arrays lie over their ends."""
    for module in (pieces, megatron_format, raw_ids, mds_format):
        monkeypatch.setattr(module, "BLOCK_IDS", 3)


@pytest.mark.parametrize("dtype", writing.CODES)
def test_megatron_of_every_type(tmp_path: Path, dtype: str, small_blocks: None) -> None:
    writing.megatron(tmp_path, ROWS, dtype)
    assert files_read(tmp_path, "megatron").rows == PLAIN


def test_sequences_of_a_document_are_joined(tmp_path: Path, small_blocks: None) -> None:
    writing.megatron(tmp_path, [[1], [2, 3], [4], [5, 6, 0], [7, 0]], ends=[0, 0, 4, 4, 5])
    assert files_read(tmp_path, "megatron").rows == [[], [1, 2, 3, 4, 5, 6], [], [7]]


@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32", "int64", ">u2"])
@pytest.mark.parametrize("lengths", ["int16", "int32", "int64", "uint16"])
def test_ragged_arrays_of_every_type(tmp_path: Path, dtype: str, lengths: str, small_blocks: None) -> None:
    writing.ragged(tmp_path, PLAIN, dtype, lengths)
    assert files_read(tmp_path, "ragged").rows == PLAIN


def test_wrapped_ids_are_restored_on_request(tmp_path: Path) -> None:
    np.save(tmp_path / "a.data.npy", np.array([1, 40000, 2], np.uint16).view(np.int16))
    np.save(tmp_path / "a.len.npy", np.array([1, 2], np.int32))
    refused = files_read(tmp_path, "ragged", vocabulary=50257)
    assert refused.rows == [[1]]
    (bad,) = refused.bad
    assert (bad.number, bad.reason) == (1, "id_outside_vocabulary")
    assert "id -25,536 at position 0; valid: 0 to 50,256" in bad.detail
    assert "wrapped_ids: true" in bad.detail
    assert files_read(tmp_path, "ragged", vocabulary=50257, wrapped_ids=True).rows == [[1], [40000, 2]]


@pytest.mark.parametrize(("vocabulary", "dtype"), [(200, "uint8"), (1000, "uint16"), (70000, "uint32")])
def test_olmo_has_the_smallest_type_of_the_vocabulary(
    tmp_path: Path, vocabulary: int, dtype: str, small_blocks: None
) -> None:
    writing.olmo(tmp_path, ROWS, dtype)
    assert files_read(tmp_path, "olmo", vocabulary=vocabulary).rows == PLAIN
    (tmp_path / "a.csv.gz").unlink()
    assert files_read(tmp_path, "olmo", vocabulary=vocabulary).rows == PLAIN
    writing.olmo(tmp_path, ROWS, "int64")
    assert files_read(tmp_path, "olmo", vocabulary=vocabulary, id_type="int64").rows == PLAIN


def test_nanogpt_keeps_an_end_without_a_separator(tmp_path: Path, small_blocks: None) -> None:
    writing.nanogpt(tmp_path, [*ROWS, [11, 12]])
    read = files_read(tmp_path, "nanogpt")
    assert (read.rows, read.without) == ([*PLAIN, [11, 12]], 1)


HEADERS = [
    (20240520, 1, 0, "uint16"),
    (20240801, 7, 0, "uint32"),
    (278895051, 1, 2, "uint16"),
    (278895051, 1, 4, "uint32"),
]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("cut", [1, 2, 5, 100])
def test_llmc_goes_on_over_files(tmp_path: Path, header: Any, cut: int, small_blocks: None) -> None:
    writing.llmc(tmp_path, [[0, 5, 6, 7], [0, 8], [0], [0, 9, 10]], cut, header)
    assert files_read(tmp_path, "llmc").rows == PLAIN


@pytest.mark.parametrize("packed", [False, True])
def test_mds_in_the_order_of_its_index(tmp_path: Path, packed: bool, small_blocks: None) -> None:
    writing.mds(tmp_path, [ROWS[:2], ROWS[2:]], packed=packed)
    assert files_read(tmp_path, "mds").rows == PLAIN
    assert files_read(tmp_path, "mds", borders="separator").rows == PLAIN


def test_unpacked_shards_are_read_where_the_packed_ones_are_gone(tmp_path: Path) -> None:
    """The library unpacks in place."""
    writing.mds(tmp_path, [ROWS], packed=True)
    (tmp_path / "shard.00000.mds").write_bytes(writing.mds_shard([writing.sample(row) for row in ROWS]))
    assert files_read(tmp_path, "mds").rows == PLAIN
    (tmp_path / "shard.00000.mds.zstd").unlink()
    assert files_read(tmp_path, "mds").rows == PLAIN


def test_an_index_over_folders_with_their_own_is_passed_over(tmp_path: Path) -> None:
    for name in ("a", "b"):
        writing.mds(tmp_path / name, [ROWS])
    inner = (tmp_path / "a" / "index.json").read_text()
    (tmp_path / "index.json").write_text(inner.replace("shard.", "a/shard."))
    assert files_read(tmp_path, "mds").rows == PLAIN * 2
    (tmp_path / "a" / "index.json").unlink()
    assert files_read(tmp_path, "mds").rows == PLAIN * 2


@pytest.mark.parametrize("name", ["mds_windows", "mds_fixed"])
def test_mds_that_the_library_wrote(name: str) -> None:
    """Windows of 16 ids of documents of 150, 1 and 174 ids that count up from 100."""
    read = files_read(RECORDED / name, "mds", separator=None)
    assert [id_ for ids in read.rows for id_ in ids] == list(range(100, 100 + sum(map(len, read.rows))))
    assert {len(ids) for ids in read.rows[:-1]} == {16}


def test_litdata_that_the_library_wrote(tmp_path: Path) -> None:
    read = files_read(RECORDED / "litdata", "litdata", separator=130)
    assert read.rows == [list(range(100, 130)), list(range(131, 270))]


def test_litdata_begins_a_document_with_each_worker(tmp_path: Path, small_blocks: None) -> None:
    writing.litdata(tmp_path, [[1, 2, 3, 0], [4, 5, 6, 7, 8]])
    assert files_read(tmp_path, "litdata").rows == [[1, 2, 3], [4, 5, 6, 7, 8]]
    index = (tmp_path / "index.json").read_text()
    (tmp_path / "index.json").write_text(index.replace("chunk-0-1.bin", "chunk-1-0.bin"))
    shutil.move(tmp_path / "chunk-0-1.bin", tmp_path / "chunk-1-0.bin")
    assert files_read(tmp_path, "litdata").rows == [[1, 2, 3], [4, 5], [6, 7, 8]]


def test_documents_that_cannot_be_used_are_named(tmp_path: Path, small_blocks: None) -> None:
    writing.ragged(tmp_path, [[1, 2], [3, 1000, 4], [], [1] * 9, [5], [6, 2000]])
    read = files_read(tmp_path, "ragged", longest_document=8)
    assert read.documents == {("a", 0): [1, 2], ("a", 2): [], ("a", 4): [5]}
    assert [(bad.number, bad.reason) for bad in read.bad] == [
        (1, whole.OUTSIDE),
        (3, whole.TOO_LONG),
        (5, whole.OUTSIDE),
    ]
    assert read.bad[0].detail == "id 1,000 at position 1; valid: 0 to 999"
    assert read.bad[1].detail == "9 ids; longest_document is 8"


def test_a_long_document_takes_no_memory(tmp_path: Path, small_blocks: None) -> None:
    """Without a separator a whole file is one document."""
    (tmp_path / "train.bin").write_bytes(np.full(100_000, 7, "<u2").tobytes())
    read = files_read(tmp_path, "nanogpt", longest_document=50)
    assert (read.rows, read.bad[0].detail) == ([], "100,000 ids; longest_document is 50")


Write = Callable[[Path, Any], None]


@given(lists, st.sampled_from([writing.megatron, writing.ragged, writing.olmo]), st.integers(1, 7))
def test_any_documents_come_back(tmp_path_factory: pytest.TempPathFactory, rows: Any, write: Write, block: int) -> None:
    folder = tmp_path_factory.mktemp("any")
    ended = [[*row, 0] for row in rows]
    write(folder, rows if write is writing.ragged else ended)
    with pytest.MonkeyPatch.context() as patch:
        for module in (pieces, megatron_format, raw_ids):
            patch.setattr(module, "BLOCK_IDS", block)
        assert files_read(folder, write.__name__).rows == rows


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(1, 7), st.booleans())
def test_separators_anywhere(ids: list[int], block: int, before: bool) -> None:
    """Documents joined with their separators are the stream; none but the last lacks one."""
    blocks = [np.array(ids[start : start + block]) for start in range(0, len(ids), block)]
    found, held = list[list[int]](), list[int]()
    for piece, ends in pieces.by_separator(blocks, 0, before=before):
        place = 0
        for end in ends.tolist():
            found.append([*held, *piece[place:end].tolist()])
            held, place = [], end
        held += piece[place:].tolist()
    assert (held, [id_ for document in found for id_ in document]) == ([], ids)
    for document in found if before else found[:-1]:
        assert document.count(0) == (document[0 if before else -1] == 0)
    if not before:
        assert all(document[-1] == 0 for document in found[:-1])
