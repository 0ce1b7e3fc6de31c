"""litdata's chunks of ids, as LitGPT reads them: files of one stream, cut anywhere, and an index that names them."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain, groupby
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.token_files.indexed import group_indexed, read_index
from corpus_assets.token_files.pieces import BLOCK_IDS, How, Pieces, TokenFile, TokenSource, by_separator

TYPES: Final = {
    "11": "uint8",
    **dict.fromkeys(("13", "14"), "int16"),
    **dict.fromkeys(("15", "16"), "int32"),
    **dict.fromkeys(("17", "18"), "int64"),
    "20": "uint16",
}
"""Types of torch by litdata's numbers."""
_TENSOR = "no_header_tensor:"
_SERIES = re.compile(r"(.*)-[0-9]+\.bin", re.DOTALL)
_U4 = np.dtype("<u4")


class Chunk(msgspec.Struct, frozen=True):
    """What an index says of a file: its bytes, its items, and its ids."""

    filename: str
    chunk_bytes: int
    chunk_size: int
    dim: int | None = None


class Config(msgspec.Struct, frozen=True):
    """What it says of all of them."""

    data_format: list[str]
    item_loader: str | None = None
    compression: str | None = None
    encryption: Any = None


class Index(msgspec.Struct, frozen=True):
    """The content of `index.json`."""

    chunks: list[Chunk]
    config: Config


def _names(content: bytes, _: set[str]) -> list[str]:
    return [chunk.filename for chunk in msgspec.json.decode(content, type=Index).chunks]


GROUP = partial(group_indexed, names=_names)


def read(source: TokenSource, how: How) -> Iterator[Pieces]:
    """Yields the ids of all chunks of an index, in which documents end at separators.

    Chunks whose names differ in their last number alone are one stream, in the order of the index. Others are what
    other workers wrote; with each a document begins.
    """
    assert how.separator is not None, "documents are told apart by the separator"
    file = source.open()
    index = read_index(file, Index)
    dtype = _type(file, index.config)
    for _, series in groupby(index.chunks, _series):
        blocks = chain.from_iterable(_blocks(source.open(chunk.filename), chunk, dtype) for chunk in series)
        yield from by_separator(blocks, how.separator, before=how.section.side == "before")


def _series(chunk: Chunk) -> str:
    found = _SERIES.fullmatch(chunk.filename)
    return chunk.filename if found is None else found[1]


def _type(file: TokenFile, config: Config) -> np.dtype[Any]:
    if config.item_loader != "TokensLoader":
        raise file.bad(f"has item_loader {config.item_loader!r}; valid: 'TokensLoader', whose items are ids")
    if config.compression or config.encryption:
        raise file.bad(f"has compression {config.compression!r}, encryption {config.encryption!r}; valid: none")
    (kind, *others) = config.data_format or ["none"]
    code = kind.removeprefix(_TENSOR)
    if others or not kind.startswith(_TENSOR) or code not in TYPES:
        valid = ", ".join(f"{_TENSOR}{known} ({name})" for known, name in TYPES.items())
        raise file.bad(f"has data_format {config.data_format}; valid: one of {valid}")
    return np.dtype(TYPES[code]).newbyteorder("<")


def _blocks(file: TokenFile, chunk: Chunk, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """Yields the ids of a chunk; `BadFileError` if it is not as the index says."""
    if file.size != chunk.chunk_bytes:
        raise file.bad(f"has {file.size:,} bytes; its index says {chunk.chunk_bytes:,}")
    items = int(file.array(_U4, 1, "the number of items")[0])
    if items != chunk.chunk_size:
        raise file.bad(f"has {items:,} items; its index says {chunk.chunk_size:,}")
    place = first = 4 * (items + 2)
    for start in range(0, items + 1, BLOCK_IDS):
        offsets = file.array(_U4, min(BLOCK_IDS, items + 1 - start), "the offsets").astype(np.int64)
        steps = np.diff(offsets, prepend=place)
        if len(wrong := np.flatnonzero((steps < 0) | ((start + np.arange(len(steps)) == 0) & (steps != 0)))):
            raise file.bad(
                f"item {start + wrong[0]:,} begins at byte {offsets[wrong[0]]:,}; expected at least {place:,}"
            )
        place = int(offsets[-1])
    if place != file.size:
        raise file.bad(f"its items end at byte {place:,} of {file.size:,}; expected at its end")
    count, odd = divmod(place - first, dtype.itemsize)
    if odd or (chunk.dim is not None and count != chunk.dim):
        raise file.bad(f"has {place - first:,} bytes of ids; its index says {chunk.dim} ids of {dtype.itemsize} bytes")
    yield from file.blocks(dtype, count, "ids")
