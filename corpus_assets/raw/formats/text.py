"""Reads plain text files, each of which is one document, and lists of such files."""

from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from corpus_assets.raw.binary import binary_kind, controls
from corpus_assets.raw.formats.names import UTF8_BOM, check_utf8_start
from resources.errors import BadFileError
from resources.formats.jsonl.long_lines import PIECE_BYTES
from resources.processes.long_documents import wait_for_turn


def read_text(stream: BinaryIO, where: str, limit: int) -> str:
    """Returns the whole file as text, with its line ends, without a UTF-8 byte order mark.

    Raises `BadFileError` if it is not UTF-8, no text, or has more than `limit` bytes.
    """
    content = _read(stream, limit + 1)
    if len(content) > limit:
        raise BadFileError(where, f"text file is over the limit of {limit} bytes (`longest_row`)")
    check_utf8_start(where, content)
    if kind := binary_kind(content):
        raise BadFileError(where, f"is no text: it begins like {kind}")
    try:
        text = content.removeprefix(UTF8_BOM).decode()
    except UnicodeDecodeError as fault:
        byte = content[fault.start]
        raise BadFileError(where, f"no UTF-8: byte 0x{byte:02x} at {fault.start}: {fault.reason}") from None
    if share := controls(text, sound=True):
        raise BadFileError(where, f"is no text: {share} of its characters are NUL or control characters")
    return text


def _read(stream: BinaryIO, most: int) -> bytes:
    """Returns a file, or its first `most` bytes."""
    held = BytesIO()
    while piece := stream.read(min(most - held.tell(), PIECE_BYTES)):
        held.write(piece)
        wait_for_turn(held.tell())
    return held.getvalue()


def listed_paths(listing: str) -> Iterator[tuple[int, str]]:
    r"""Yields line number (from 1) and path of every nonblank line of a list of files (one path per line).

    Only `\n` ends a line; white space around a path is removed (docs/formats/cerebras-hdf5.md "Reading input").
    """
    for number, line in enumerate(listing.split("\n"), 1):
        if path := line.strip():
            yield number, path
