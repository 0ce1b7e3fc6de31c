"""Files of ids that are not what they say: each is an error that names the file, the place, and what was expected."""

import gzip
import hashlib
import io
import json
import pickle
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resources.errors import BadFileError
from resources.formats.codecs import CodecError
from tests.token_files import writing
from tests.token_files.given import files_read
from tests.token_files.writing import ROWS, changed

Spoil = Callable[[Path], object]
U64, I64, I32 = struct.Struct("<Q"), struct.Struct("<q"), struct.Struct("<i")
BEGIN: dict[str, Spoil] = {
    "megatron": lambda folder: writing.megatron(folder, ROWS),
    "ragged": lambda folder: writing.ragged(folder, ROWS),
    "olmo": lambda folder: writing.olmo(folder, ROWS),
    "nanogpt": lambda folder: writing.nanogpt(folder, ROWS),
    "llmc": lambda folder: writing.llmc(folder, ROWS),
    "mds": lambda folder: writing.mds(folder, [ROWS[:2], ROWS[2:]]),
    "mds packed": lambda folder: writing.mds(folder, [ROWS], packed=True),
    "litdata": lambda folder: writing.litdata(folder, ROWS),
}


def at(name: str, place: int, content: bytes) -> Spoil:
    """Writes bytes over those of a file."""
    return lambda folder: changed(folder / name, place, content)


def cut(name: str, size: int) -> Spoil:
    """Takes bytes off the end of a file."""
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-size])


def more(name: str, content: bytes = b"\0") -> Spoil:
    """Adds bytes to a file."""
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes() + content)


def gone(name: str) -> Spoil:
    return lambda folder: (folder / name).unlink()


def index(change: Callable[[Any], object]) -> Spoil:
    """Changes an index."""

    def write(folder: Path) -> None:
        value = json.loads((folder / "index.json").read_text())
        change(value)
        (folder / "index.json").write_text(json.dumps(value))

    return write


def shard(**values: Any) -> Spoil:
    """Changes what an MDS index says of its first shard."""
    return index(lambda value: value["shards"][0].update(values))


def part(kind: str = "raw_data", **values: Any) -> Spoil:
    """Changes what it says of a file of that shard."""
    return index(lambda value: value["shards"][0][kind].update(values))


def config(**values: Any) -> Spoil:
    return index(lambda value: value["config"].update(values))


def chunk(**values: Any) -> Spoil:
    return index(lambda value: value["chunks"][0].update(values))


def saved(name: str, array: Any) -> Spoil:
    return lambda folder: np.save(folder / name, array, allow_pickle=True)


def header(text: str, version: bytes = b"\x01\x00") -> Spoil:
    """Writes an array with any header."""
    content = text.encode().ljust(118) + b"\n"
    return lambda folder: (folder / "a.data.npy").write_bytes(
        b"\x93NUMPY" + version + struct.pack("<H", len(content)) + content + bytes(14)
    )


def table(text: str) -> Spoil:
    return lambda folder: (folder / "a.csv.gz").write_bytes(gzip.compress(text.encode()))


def rehashed(folder: Path, name: str, content: bytes) -> None:
    """Writes a shard, with the size and the checksum of its content in the index."""
    (folder / name).write_bytes(content)
    part(basename=name, bytes=len(content), hashes={"sha1": hashlib.sha1(content).hexdigest()})(folder)


def of_samples(*samples: bytes) -> Spoil:
    def write(folder: Path) -> None:
        rehashed(folder, "shard.00000.mds", writing.mds_shard(samples))
        shard(samples=len(samples))(folder)

    return write


HUGE = 2**40
LENGTHS, POINTERS, ENTRIES = 34, 34 + 4 * 4, 34 + 12 * 4
CASES: list[tuple[str, Spoil, tuple[str, ...]]] = [
    # Megatron
    ("megatron", at("a.idx", 0, b"TNTIDX\0\0\0"), ("a.idx", "begins with b'TNTIDX", "MMIDIDX")),
    ("megatron", at("a.idx", 9, U64.pack(2)), ("a.idx", "version 2", "valid: 1")),
    ("megatron", at("a.idx", 17, b"\x07"), ("a.idx", "type 7", "8 uint16")),
    ("megatron", at("a.idx", 18, U64.pack(HUGE)), ("a.idx", "1,099,511,627,776 sequences", "header")),
    ("megatron", at("a.idx", 26, U64.pack(HUGE)), ("a.idx", "1,099,511,627,776 entries")),
    ("megatron", at("a.idx", 26, U64.pack(6)), ("a.idx", "has 122 bytes", "are 130")),
    ("megatron", cut("a.idx", 1), ("a.idx", "has 121 bytes", "are 122")),
    ("megatron", cut("a.idx", 100), ("a.idx", "is cut off", "the header of an index")),
    ("megatron", more("a.idx", bytes(4)), ("a.idx", "modes of sequences")),
    ("megatron", at("a.idx", LENGTHS, I32.pack(-3)), ("a.idx", "sequence 0 has -3 ids")),
    ("megatron", at("a.idx", LENGTHS, I32.pack(2**31 - 1)), ("a.idx", "sequence 1 begins at byte 8", "4,294,967,294")),
    (
        "megatron",
        at("a.idx", POINTERS + 8, I64.pack(6)),
        ("a.idx", "sequence 1 begins at byte 6", "a.bin", "expected 8"),
    ),
    (
        "megatron",
        at("a.idx", POINTERS + 8, I64.pack(14) + I64.pack(8)),  # in another order
        ("sequence 1 begins at byte 14", "expected 8"),
    ),
    ("megatron", at("a.idx", POINTERS, I64.pack(-2)), ("sequence 0 begins at byte -2", "expected 0")),
    ("megatron", at("a.idx", ENTRIES, I64.pack(1)), ("a.idx", "document index goes from 1 to 4")),
    ("megatron", at("a.idx", ENTRIES + 32, I64.pack(3)), ("goes from 0 to 3", "number of sequences, 4")),
    ("megatron", at("a.idx", ENTRIES + 8, I64.pack(3)), ("document 1 ends before it begins",)),
    ("megatron", at("a.idx", ENTRIES + 8, I64.pack(-1)), ("document 0 ends before it begins",)),
    ("megatron", at("a.idx", ENTRIES + 8, I64.pack(9)), ("document 1 ends before it begins",)),
    ("megatron", cut("a.bin", 2), ("a.bin", "has 18 bytes", "a.idx", "20 bytes")),
    ("megatron", more("a.bin", bytes(2)), ("a.bin", "has 22 bytes", "20 bytes")),
    ("megatron", gone("a.bin"), ("a.idx", "needs 'a.bin', which is not there")),
    ("megatron", gone("a.idx"), ("a.bin", "needs 'a.idx', which is not there")),
    # ragged arrays
    ("ragged", saved("a.len.npy", np.array([4, 2, 1, 4], np.int32)), ("a.len.npy", "4 documents have 11", "has 10")),
    ("ragged", saved("a.len.npy", np.array([4, 2], np.int32)), ("a.len.npy", "2 documents have 6 ids", "has 10")),
    ("ragged", saved("a.len.npy", np.array([4, 2, 5, -1], np.int32)), ("a.len.npy", "document 3 has -1 ids")),
    ("ragged", saved("a.len.npy", np.array([10, 2**63], np.uint64)), ("document 1 has 9,223,372,036,854,775,808 ids",)),
    ("ragged", saved("a.len.npy", np.array([10.0])), ("a.len.npy", "float64", "valid: integers in one dimension")),
    ("ragged", saved("a.data.npy", np.zeros((5, 2), np.int16)), ("a.data.npy", "(5, 2)", "one dimension")),
    (
        "ragged",
        saved("a.data.npy", np.array([{"a": 1}], object)),
        ("a.data.npy", "Python objects, which are never read"),
    ),
    ("ragged", cut("a.data.npy", 1), ("a.data.npy", "has 19 bytes", "10 uint16, which are 20")),
    ("ragged", more("a.data.npy"), ("a.data.npy", "has 21 bytes", "which are 20")),
    ("ragged", cut("a.data.npy", 140), ("a.data.npy", "is cut off", "the header of an array")),
    ("ragged", at("a.data.npy", 0, b"\x80\x04."), ("a.data.npy", "begins with b'\\x80", "NUMPY")),
    ("ragged", at("a.data.npy", 6, b"\x09"), ("a.data.npy", "version 9.0")),
    ("ragged", header("__import__('os').system('true')"), ("a.data.npy", "a header that is none of NumPy's")),
    ("ragged", header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"), ("a.data.npy", "Python objects")),
    ("ragged", header("(" * 100), ("a.data.npy", "a header that is none of NumPy's")),
    ("ragged", header("{'descr': '<u2', 'fortran_order': False, 'shape': (-7,)}"), ("a.data.npy", "-7 uint16")),
    (
        "ragged",
        header("{'descr': '<u2', 'fortran_order': False, 'shape': (1099511627776,)}"),
        ("a.data.npy", "has 14 bytes", "1,099,511,627,776 uint16"),
    ),
    ("ragged", gone("a.len.npy"), ("a.data.npy", "needs 'a.len.npy', which is not there")),
    # OLMo and nanoGPT
    ("olmo", more("a.npy"), ("a.npy", "has 21 bytes of ids", "a multiple of 2")),
    ("olmo", saved("a.npy", np.zeros(4, np.uint16)), ("a.npy", "array of NumPy", "without a header")),
    ("olmo", table("0,4\r\n4,6\r\n"), ("a.csv.gz", "up to id 6", "has 10 ids")),
    ("olmo", table("0,4\r\n5,10\r\n"), ("a.csv.gz", "document 1 is from id 5 to 10", "expected: from 4")),
    ("olmo", table("0,4\r\n4,11\r\n"), ("document 1 is from id 4 to 11", "at most 10")),
    ("olmo", table("0,4\r\n4,3\r\n"), ("document 1 is from id 4 to 3",)),
    ("olmo", table("0,-4\r\n"), ("a.csv.gz", "line 1 begins with ['0', '-4']", "two numbers")),
    ("olmo", table(f"0,{10**30}\r\n"), ("a.csv.gz", "line 1 begins", "two numbers")),
    ("olmo", table("0\r\n"), ("a.csv.gz", "line 1 has fewer than two columns")),
    ("olmo", table("0," + "9" * 5_000), ("a.csv.gz", "line 1 begins with ['0', '9", "two numbers")),
    ("olmo", table("0," + "9" * 200_000), ("a.csv.gz", "line")),  # Python's limit on a field is of the whole process.
    ("olmo", cut("a.csv.gz", 4), ("gzip stream is cut or corrupt",)),
    ("nanogpt", more("train.bin"), ("train.bin", "has 21 bytes of ids", "a multiple of 2")),
    # llm.c
    ("llmc", at("x_train_000001.bin", 0, I32.pack(20240522)), ("x_train_000001.bin", "begins with 20240522")),
    ("llmc", at("x_train_000000.bin", 4, I32.pack(2)), ("x_train_000000.bin", "version 2", "valid: 1")),
    ("llmc", at("x_train_000000.bin", 8, I32.pack(2**31 - 1)), ("has 5 ids", "its header says 2,147,483,647")),
    ("llmc", at("x_train_000000.bin", 8, I32.pack(-1)), ("has 5 ids", "its header says -1")),
    ("llmc", cut("x_train_000000.bin", 1), ("x_train_000000.bin", "has 9 bytes of ids")),
    ("llmc", cut("x_train_000001.bin", 100), ("x_train_000001.bin", "is cut off", "header")),
    # MDS
    ("mds", part(basename="../x.mds"), ("index.json", "names '../x.mds'", "in its folder or below")),
    ("mds", part(basename="/etc/passwd"), ("index.json", "names '/etc/passwd'")),
    ("mds", part(basename="a/../../x.mds"), ("index.json", "names 'a/../../x.mds'")),
    ("mds", part(basename="./shard.00000.mds"), ("index.json", "names './shard.00000.mds'")),
    ("mds", part(basename=""), ("index.json", "names ''")),
    ("mds", part(basename="shard.00001.mds"), ("index.json", "names a file twice")),
    ("mds", part(basename="shard.00007.mds"), ("index.json", "needs 'shard.00007.mds', which is not there")),
    ("mds", part(bytes=HUGE), ("shard.00000.mds", "its index says 1,099,511,627,776")),
    ("mds", part(hashes={"sha1": "0" * 40}), ("shard.00000.mds", "has sha1", f"its index says {'0' * 40}")),
    ("mds", part(hashes={"crc": "0"}), ("shard.00000.mds", "a checksum 'crc'", "known: md5")),
    ("mds", at("shard.00000.mds", 24, b"\x09"), ("shard.00000.mds", "has sha1")),
    ("mds", shard(samples=3), ("shard.00000.mds", "has 2 samples; its index says 3")),
    ("mds", shard(column_names=["input_ids"]), ("shard.00000.mds", "no column 'tokens'", "it has input_ids")),
    ("mds", shard(column_encodings=["pkl"]), ("'pkl'", "valid: bytes, ndarray:TYPE")),
    ("mds", shard(column_encodings=["ndarray:float32"]), ("'ndarray:float32'",)),
    ("mds", shard(column_encodings=["bytes"]), ("holds 'tokens' as bytes", "id_type")),
    ("mds", shard(column_sizes=[]), ("different numbers of columns",)),
    ("mds", shard(column_sizes=[-4]), ("column_sizes [-4]",)),
    ("mds", shard(column_sizes=[8]), ("sample 0 has", "expected 8, by its columns")),
    ("mds", shard(format="json"), ("format 'json'; valid: mds",)),
    ("mds", index(lambda value: value.update(version=3)), ("version 3 of the index",)),
    ("mds", index(lambda value: value.pop("shards")), ("index.json", "no index of the format", "shards")),
    ("mds", lambda folder: (folder / "index.json").write_text("[" * 100_000), ("no index of the format",)),
    ("mds", at("shard.00000.mds", 0, struct.pack("<I", 2**32 - 1)), ("has 4,294,967,295 samples",)),
    ("mds", of_samples(b"\0"), ("sample 0 has 1 bytes", "the sizes of its columns")),
    ("mds", of_samples(writing.sample([1]) + b"\0"), ("sample 0 has 11 bytes; expected 10",)),
    ("mds", of_samples(struct.pack("<IBB", 2, 4, 255)), ("sample 0 has 0 bytes of ids", "255 int32")),
    ("mds", of_samples(struct.pack("<IBBB", 3, 8, 1, 1)), ("sample 0 has an array of 2 dimensions",)),
    ("mds packed", part("zip_data", bytes=3), ("shard.00000.mds.zstd", "its index says 3")),
    ("mds packed", part("zip_data", hashes={"sha1": "1"}), ("shard.00000.mds.zstd", "has sha1")),
    ("mds packed", part(hashes={"sha1": "1"}), ("shard.00000.mds.zstd", "has sha1")),
    ("mds packed", part(bytes=40), ("more than the 40 bytes allowed",)),
    ("mds packed", part(bytes=4000), ("expected: in order, up to 4,000",)),
    ("mds packed", shard(compression="br:11"), ("compressed as 'br:11'", "valid: zstd, gz")),
    ("mds packed", gone("shard.00000.mds.zstd"), ("needs 'shard.00000.mds.zstd', which is not there",)),
    # litdata
    ("litdata", config(data_format=["no_header_tensor:6"]), ("data_format ['no_header_tensor:6']", "16 (int32)")),
    ("litdata", config(data_format=["no_header_tensor:18"]), ("chunk-0-0.bin", "24 bytes of ids", "6 ids of 8 bytes")),
    ("litdata", config(data_format=["no_header_numpy:3"]), ("no_header_numpy",)),
    ("litdata", config(data_format=[]), ("data_format []",)),
    ("litdata", config(item_loader=None), ("item_loader None", "TokensLoader")),
    ("litdata", config(compression="zstd"), ("compression 'zstd'", "valid: none")),
    ("litdata", chunk(filename="../chunk.bin"), ("index.json", "names '../chunk.bin'")),
    ("litdata", chunk(filename="chunk-0-9.bin"), ("needs 'chunk-0-9.bin', which is not there",)),
    ("litdata", chunk(chunk_bytes=HUGE), ("chunk-0-0.bin", "its index says 1,099,511,627,776")),
    ("litdata", chunk(chunk_size=1), ("chunk-0-0.bin", "has 2 items; its index says 1")),
    ("litdata", chunk(dim=7), ("chunk-0-0.bin", "its index says 7 ids")),
    ("litdata", at("chunk-0-0.bin", 0, struct.pack("<I", 2**32 - 1)), ("has 4,294,967,295 items",)),
    ("litdata", at("chunk-0-0.bin", 4, struct.pack("<I", 20)), ("item 0 begins at byte 20; expected at least 16",)),
    ("litdata", at("chunk-0-0.bin", 8, struct.pack("<I", 3)), ("item 1 begins at byte 3; expected at least 16",)),
    ("litdata", at("chunk-0-0.bin", 12, struct.pack("<I", 30)), ("items end at byte 30 of 40",)),
    ("litdata", cut("chunk-0-0.bin", 4), ("chunk-0-0.bin", "has 36 bytes; its index says 40")),
]


@pytest.mark.parametrize(("kind", "spoil", "words"), CASES, ids=[f"{kind}-{n}" for n, (kind, *_) in enumerate(CASES)])
def test_an_error_names_file_place_and_what_was_expected(
    tmp_path: Path, kind: str, spoil: Spoil, words: tuple[str, ...]
) -> None:
    BEGIN[kind](tmp_path)
    files_read(tmp_path, kind.partition(" ")[0])
    spoil(tmp_path)
    with pytest.raises((BadFileError, CodecError)) as caught:
        files_read(tmp_path, kind.partition(" ")[0])
    for word in words:
        assert word in str(caught.value)


def test_a_series_of_llmc_with_a_gap_cannot_be_read(tmp_path: Path) -> None:
    writing.llmc(tmp_path, ROWS, cut=3)
    (tmp_path / "x_train_000001.bin").unlink()
    with pytest.raises(BadFileError, match="files up to number 3, but 1 is not there"):
        files_read(tmp_path, "llmc")


def test_a_link_that_leaves_the_folder_is_not_followed(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    writing.mds(inside, [ROWS])
    (inside / "shard.00000.mds").rename(outside / "shard")
    (inside / "shard.00000.mds").symlink_to(outside / "shard")
    with pytest.raises(BadFileError, match=r"needs 'shard\.00000\.mds', which leaves the source's folder"):
        files_read(inside, "mds")


def test_a_pickle_in_a_header_is_never_called(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (open, (str(tmp_path / "called"), "w"))

    writing.ragged(tmp_path, ROWS)
    (tmp_path / "a.data.npy").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(BadFileError):
        files_read(tmp_path, "ragged")
    np.save(held := io.BytesIO(), np.array([Trap()], object), allow_pickle=True)
    (tmp_path / "a.data.npy").write_bytes(held.getvalue())
    with pytest.raises(BadFileError):
        files_read(tmp_path, "ragged")
    assert not (tmp_path / "called").exists()


@pytest.mark.parametrize("kind", ["megatron", "ragged", "llmc", "mds", "litdata"])
def test_no_header_takes_memory(tmp_path: Path, kind: str) -> None:
    """Numbers in headers that are far too large, in small files."""
    BEGIN[kind](tmp_path)
    huge = [
        spoil for name, spoil, words in CASES if name == kind and any("1,099,511" in w or "294,967" in w for w in words)
    ]
    for spoil in huge:
        BEGIN[kind](tmp_path)
        spoil(tmp_path)
        tracemalloc.start()
        with pytest.raises(BadFileError):
            files_read(tmp_path, kind)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 16 << 20
