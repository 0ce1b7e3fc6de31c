"""Small files of ids, written by the layouts on docs/formats/trainers.md with struct and numpy alone."""

import gzip
import hashlib
import json
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import zstandard

Rows = Sequence[Sequence[int]]
ROWS = [[5, 6, 7, 0], [8, 0], [0], [9, 10, 0]]
"""Documents with a separator after each; the third has no id of its own."""
PLAIN = [[5, 6, 7], [8], [], [9, 10]]
CODES = {"uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint16": 8}


def flat(rows: Rows, dtype: str) -> bytes:
    """All ids one after another."""
    return b"".join(np.array(row, dtype).tobytes() for row in rows)


def megatron(folder: Path, rows: Rows, dtype: str = "uint16", name: str = "a", ends: Sequence[int] = ()) -> None:
    """A pair of files. ends: the document index; by default each sequence is a document."""
    lengths, width = [len(row) for row in rows], np.dtype(dtype).itemsize
    index = list(ends) or list(range(len(rows) + 1))
    pointers = [sum(lengths[:number]) * width for number in range(len(rows))]
    head = b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, CODES[dtype], len(rows), len(index))
    arrays = (np.array(lengths, "<i4"), np.array(pointers, "<i8"), np.array(index, "<i8"))
    (folder / f"{name}.idx").write_bytes(head + b"".join(array.tobytes() for array in arrays))
    (folder / f"{name}.bin").write_bytes(flat(rows, dtype))


def ragged(folder: Path, rows: Rows, dtype: str = "uint16", lengths: str = "int32", name: str = "a") -> None:
    np.save(folder / f"{name}.data.npy", np.frombuffer(flat(rows, dtype), dtype))
    np.save(folder / f"{name}.len.npy", np.array([len(row) for row in rows], lengths))


def olmo(folder: Path, rows: Rows, dtype: str = "uint16", name: str = "a") -> None:
    """Ids without a header, and the table of documents, in whose last columns is a comma and a line break."""
    (folder / f"{name}.npy").write_bytes(flat(rows, dtype))
    ends = np.cumsum([len(row) for row in rows]).tolist()
    lines = [f'{end - len(row)},{end},"id,\n{end}",src,1\r\n' for row, end in zip(rows, ends, strict=True)]
    (folder / f"{name}.csv.gz").write_bytes(gzip.compress("".join(lines).encode()))


def nanogpt(folder: Path, rows: Rows, name: str = "train") -> None:
    (folder / f"{name}.bin").write_bytes(flat(rows, "uint16"))


def llmc(
    folder: Path, rows: Rows, cut: int = 5, header: tuple[int, int, int, str] = (20240520, 1, 0, "uint16")
) -> None:
    """The stream of all ids in files of `cut` ids. header: first two and fourth number, and the type of ids."""
    magic, version, width, dtype = header
    ids = np.frombuffer(flat(rows, dtype), dtype)
    for number, start in enumerate(range(0, len(ids), cut)):
        part = ids[start : start + cut]
        head = np.zeros(256, "<i4")
        head[:4] = magic, version, len(part), width
        (folder / f"x_train_{number:06}.bin").write_bytes(head.tobytes() + part.tobytes())


def sample(ids: Sequence[int]) -> bytes:
    """A sample of one column `ndarray:int32`."""
    content = struct.pack("<BB", 4, len(ids)) + np.array(ids, "<i4").tobytes()
    return struct.pack("<I", len(content)) + content


def mds_shard(samples: Sequence[bytes]) -> bytes:
    """A shard of samples."""
    first = 4 * (len(samples) + 2) + 2
    offsets = first + np.cumsum([0, *map(len, samples)])
    return struct.pack("<I", len(samples)) + offsets.astype("<u4").tobytes() + b"{}" + b"".join(samples)


def mds(folder: Path, shards: Sequence[Rows], *, packed: bool = False) -> None:
    """A dataset of one column."""
    folder.mkdir(exist_ok=True)
    entries = []
    for number, rows in enumerate(shards):
        content = mds_shard([sample(row) for row in rows])
        files = {"raw_data": ("mds", content), "zip_data": ("mds.zstd", zstandard.compress(content))}
        entry = {
            **{"column_names": ["tokens"], "column_encodings": ["ndarray:int32"], "column_sizes": [None]},
            **{"compression": "zstd:3" if packed else None, "format": "mds", "hashes": ["sha1"], "size_limit": 1 << 26},
            **{"samples": len(rows), "version": 2, "zip_data": None},
        }
        for kind, (suffix, held) in list(files.items())[: 1 + packed]:
            name = f"shard.{number:05}.{suffix}"
            entry[kind] = {"basename": name, "bytes": len(held), "hashes": {"sha1": hashlib.sha1(held).hexdigest()}}
            if kind == "zip_data" or not packed:
                (folder / name).write_bytes(held)
        entries.append(entry)
    (folder / "index.json").write_text(json.dumps({"shards": entries, "version": 2}))


def litdata(folder: Path, rows: Rows, blocks: int = 2, name: str = "chunk-0") -> None:
    """Chunks of blocks of 3 ids; what fills no block is left out."""
    ids = np.frombuffer(flat(rows, "int32"), "<i4")
    chunks = []
    for number, start in enumerate(range(0, len(ids) // 3 * 3, 3 * blocks)):
        part = ids[start : min(start + 3 * blocks, len(ids) // 3 * 3)]
        items = len(part) // 3
        offsets = 4 * (items + 2) + 12 * np.arange(items + 1)
        content = struct.pack("<I", items) + offsets.astype("<u4").tobytes() + part.tobytes()
        (folder / f"{name}-{number}.bin").write_bytes(content)
        entry = {"chunk_bytes": len(content), "chunk_size": items, "dim": len(part), "filename": f"{name}-{number}.bin"}
        chunks.append(entry)
    config = {"data_format": ["no_header_tensor:16"], "item_loader": "TokensLoader", "compression": None}
    (folder / "index.json").write_text(json.dumps({"chunks": chunks, "config": config, "updated_at": "1"}))


def changed(path: Path, place: int, content: bytes) -> None:
    """Writes bytes over those of a file."""
    held = bytearray(path.read_bytes())
    held[place : place + len(content)] = content
    path.write_bytes(bytes(held))
