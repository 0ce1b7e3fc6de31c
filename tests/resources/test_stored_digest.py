"""The digest of a file is that of its bytes, in whatever order they were written or read."""

import io
import random
from pathlib import Path
from typing import BinaryIO

import h5py
import numpy as np
import pytest

from resources.stored_digest import BLOCK, ReadFile, StoredDigest, WrittenFile, digest_of

SIZES = (1, 10, 4096, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 5)


def whole(content: bytes) -> str:
    """The digest of bytes that come in order."""
    taken = StoredDigest()
    taken.wrote(0, content)
    return taken.digest(len(content), lambda offset, size: content[offset : offset + size])


@pytest.mark.parametrize("seed", range(30))
def test_what_is_written_anywhere_has_the_digest_of_its_bytes(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    raw, file = WrittenFile.opened(tmp_path / "file", "file")
    for _ in range(chance.randrange(1, 12)):
        move = chance.random()
        if move < 0.4:
            file.seek(chance.randrange(0, 4 * BLOCK))
        elif move < 0.5:
            file.truncate(chance.randrange(0, 4 * BLOCK))
        elif move < 0.6:
            file.read(chance.choice(SIZES))
        file.write(chance.randbytes(chance.choice(SIZES)))
    file.flush()
    assert raw.stored_digest(raw.descriptor) == whole((tmp_path / "file").read_bytes())
    file.close()


def test_what_is_written_past_the_file_object_counts(tmp_path: Path) -> None:
    raw, file = WrittenFile.opened(tmp_path / "file", "file")
    file.write(bytes(3 * BLOCK))
    file.flush()
    np.ones(9).tofile(file)
    with open(file.fileno(), "r+b", closefd=False) as other:
        other.seek(5)
        other.write(b"other")
    assert raw.stored_digest(raw.descriptor) == whole((tmp_path / "file").read_bytes())
    file.close()


def test_a_file_of_hdf5_is_read_again_where_it_was_written_again(tmp_path: Path) -> None:
    raw, file = WrittenFile.opened(tmp_path / "file.h5", "file.h5")
    with h5py.File(file, "w") as stored:
        data = stored.create_dataset("data", (0, 1000), "<i4", maxshape=(None, 1000), chunks=(1, 1000))
        for row in range(2000):
            data.resize(row + 1, 0)
            data[row] = row
    file.flush()
    assert raw.stored_digest(raw.descriptor) == whole((tmp_path / "file.h5").read_bytes())
    file.close()


def read_in_pieces(file: BinaryIO, chance: random.Random) -> None:
    for _ in range(chance.randrange(8)):
        if chance.random() < 0.5:
            file.seek(chance.randrange(4 * BLOCK))
        file.read(chance.choice(SIZES))


@pytest.mark.parametrize("seed", range(20))
def test_what_is_read_anywhere_has_the_digest_of_all_bytes(seed: int) -> None:
    chance = random.Random(seed)
    content = chance.randbytes(chance.choice(SIZES) + chance.choice(SIZES))
    raw, file = ReadFile.opened(io.BytesIO(content))
    read_in_pieces(file, chance)
    file.close()
    assert raw.stored_digest() == whole(content) == digest_of(io.BytesIO(content))


@pytest.mark.parametrize("size", [0, *SIZES])
def test_every_bit_counts(size: int) -> None:
    content = bytearray(random.Random(size).randbytes(size))
    before = whole(bytes(content))
    assert whole(bytes(content) + b"\0") != before
    for place in {0, size // 2, size - 1} if size else ():
        content[place] ^= 4
        assert whole(bytes(content)) != before
        content[place] ^= 4
    assert whole(bytes(content)) == before
