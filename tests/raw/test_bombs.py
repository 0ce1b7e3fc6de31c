"""Small files that unpack to far more than they may: each is refused by name, and memory stays bounded."""

import gzip
import io
import tracemalloc
from collections.abc import Callable
from functools import cache, partial

import pytest
import zstandard

from corpus_assets.raw.readers import BadRow, Limits, RawFile, RowRules, read_documents
from resources.errors import BadFileError
from tests.raw.every_format import archive
from tests.raw.packings import PACK

LIMITS = Limits(line_bytes=1 << 18, free_bytes=1 << 20, ratio=4)
UNPACKED = 16 << 20
PEAK = 8 << 20
XZ_DICTIONARY = 8 << 20  # which is counted, as the library takes it from Python
Pack = Callable[[bytes], bytes]


def zstd_of(piece: bytes, count: int) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    return b"".join([*(packer.compress(piece) for _ in range(count)), packer.flush()])


def gzip_of(piece: bytes, count: int) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as packer:
        for _ in range(count):
            packer.write(piece)
    return out.getvalue()


def repeated(pack: Pack, piece: bytes, count: int) -> bytes:
    return pack(piece * count)


FILLS = {
    "zeros": bytes(1 << 16),
    "blank lines": (b" " * 255 + b"\n") * (1 << 8),
    "rows": b'{"text":"%s"}\n' % bytes(b"a" * 500) * (1 << 7),
    "commas": b"," * (1 << 16),
    "quote": b'"' + b"a" * (1 << 16),
}
PACKED: dict[str, Callable[[bytes, int], bytes]] = {
    "gz": gzip_of,
    "zst": zstd_of,
    **{end: partial(repeated, PACK[end]) for end in ("bz2", "xz", "lz4")},
}


@cache
def packed(fill: str, packing: str) -> bytes:
    """A small file that unpacks to many times what it may; packed once for all formats."""
    return PACKED[packing](FILLS[fill], UNPACKED // len(FILLS[fill]))


NAMES = [f"a.{kind}.{packing}" for kind in ("jsonl", "csv", "tsv", "warc", "warc.wet", "txt") for packing in PACKED]


@pytest.mark.parametrize("name", [*NAMES, "a.json.gz"])
@pytest.mark.parametrize("fill", FILLS)
def test_what_unpacks_to_more_than_it_may_is_refused_by_name(name: str, fill: str) -> None:
    bomb = packed(fill, name.rpartition(".")[2])
    tracemalloc.start()
    try:
        with pytest.raises(BadFileError) as refused:
            for _ in read_documents(RawFile(name, lambda: io.BytesIO(bomb)), RowRules("s"), LIMITS):
                pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert refused.value.where.startswith(name)
    assert peak < PEAK + XZ_DICTIONARY * name.endswith(".xz")


def test_the_members_of_an_archive_have_one_allowance_together() -> None:
    rows = zstd_of(FILLS["rows"], (1 << 19) // len(FILLS["rows"]))
    members = archive({f"{number}.jsonl.zst": rows for number in range(6)})
    found = read_documents(RawFile("a.jsonl.zst.tar", lambda: io.BytesIO(members)), RowRules("s"), LIMITS)
    with pytest.raises(BadFileError, match=r"a\.jsonl\.zst\.tar member [1-3]\.jsonl\.zst: decompresses to more than"):
        for _ in found:
            pass
    two = archive({f"{number}.jsonl.zst": zstd_of(FILLS["rows"], 4) for number in range(2)})
    rules = RowRules("s")
    whole = list(read_documents(RawFile("a.jsonl.zst.tar", lambda: io.BytesIO(two)), rules, LIMITS))
    assert len(whole) == 8 << 7
    assert not [row for row in whole if isinstance(row, BadRow)]
