"""Finds what a raw file is from its name and its first bytes: the format of its rows, and its compression."""

import re
from typing import Final

from resources.errors import BadFileError
from resources.raw_places.data_suffixes import PACKINGS, PLAIN, SUFFIXES, Kind, data_suffix

ROWS: Final = (*("jsonl", "jsonl.zst.tar", "parquet", "arrow", "txt", "txt_list", "csv", "tsv", "warc", "warc.wet"),)
"""What rows can be. `txt_list` is never chosen by name: a list of text files ends in `.txt`, as a text does."""

PROMISING: Final = (
    *("jsonl.gz", "json.gz", "jsonl.zst", "csv.gz", "csv.zst", "tsv.gz", "tsv.zst"),
    *("warc.gz", "warc.zst", "warc.wet.gz", "warc.wet.zst"),
)
"""Formats that name a compression too; files must have it."""

FORMATS: Final = (*ROWS, *PROMISING)
"""The values of `format`, besides `auto`."""

HEAD_BYTES: Final = 512
UTF8_BOM: Final = b"\xef\xbb\xbf"

_WHOLE: Final = {"jsonl.zst.tar": "tar", "parquet": "parquet", "arrow": "arrow"}
"""Formats that are no stream of bytes, and the container that they are."""

_SKIPPABLE: Final = "skippable"
_MAGIC: Final = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PAR1", "parquet"),
    (b"ARROW1\0\0", "arrow"),
    (b"\xff\xff\xff\xff", "arrow"),
    (b"FEA1", "feather"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x04\x22\x4d\x18", "lz4"),
    *((b"PK" + mark, "zip") for mark in (b"\x03\x04", b"\x05\x06", b"\x07\x08")),
    (b"\x02\x21\x4c\x18", "legacy lz4"),
    (b"\x1f\x9d", "compress (.Z)"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
    (b"LZIP\x01", "lzip"),
    (b"\x89LZO\0\r\n\x1a\n", "lzop"),
    (b"\xff\x06\0\0sNaPpY", "snappy"),
    (b"x\x9c", "zlib"),
    # A stream of bzip2 says how large its blocks are, and then begins a block, or ends.
    *((b"BZh%d%s" % (size, mark), "bzip2") for size in range(1, 10) for mark in (b"1AY&SY", b"\x17rE8P\x90")),
)
# Properties, a dictionary of 64 KiB or more, and a size: none, or below 1 TiB. Source: xz, `doc/lzma-file-format.txt`.
_LZMA_ALONE: Final = re.compile(rb"\x5d\0\0..(?:\xff{8}|.{5}\0{3})", re.DOTALL)
_PRINTABLE_MAGIC: Final = frozenset({"parquet", "feather", "tar"})
# Byte order marks, and an opening brace in two or four bytes.
_WIDE_STARTS: Final = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff", b"{\0", b"\0{", b"\0\0\0{")
_SKIPPABLE_FRAME: Final = b"\x2a\x4d\x18"
_TAR_MAGIC: Final = slice(257, 262)
_END_OF: Final = {packed: end for end, packed in PACKINGS.items()}


def resolve_format(name: str, declared: str = "auto") -> Kind:
    """Returns what a file is by the declared format, or for `auto` by the longest known suffix in any letter case.

    A declared format of `ROWS` promises no compression. Raises `BadFileError` for a suffix that is not known, and for a
    declared format that is not in `FORMATS`.
    """
    if declared in PROMISING:
        return SUFFIXES["." + declared]
    if declared in ROWS:
        return Kind(declared, _WHOLE.get(declared))
    if declared != "auto":
        raise BadFileError(name, f"unknown format {declared!r}; known: auto, {', '.join(FORMATS)}")
    suffix = data_suffix(name)
    if suffix is None:
        raise BadFileError(name, f"unknown file type; give its source a `format`; valid: {', '.join(FORMATS)}")
    return SUFFIXES[suffix.lower()]


def identify(head: bytes) -> str:
    """Returns the name of the container that the first `HEAD_BYTES` of a file show; `plain` if none is recognized.

    Frames that say nothing can begin a file of zstd or of lz4; it is the one that follows, or `skippable` if that
    cannot be seen.
    """
    while head[1:4] == _SKIPPABLE_FRAME and head[0] >> 4 == 5:
        head = head[8 + int.from_bytes(head[4:8], "little") :]
        if not head:
            return _SKIPPABLE
    found = next((container for magic, container in _MAGIC if head.startswith(magic)), None)
    if found is None and _LZMA_ALONE.match(head):
        return "lzma (not xz)"
    return found or ("tar" if head[_TAR_MAGIC] == b"ustar" else PLAIN)


def container_of(where: str, kind: Kind, head: bytes) -> str:
    """Returns how a file of the kind is packed: by its first bytes, which must not contradict what it promises.

    Raises `BadFileError` if they do.
    """
    found = identify(head)
    if found == _SKIPPABLE:
        found = kind.packed if kind.packed == "lz4" else "zstd"
    if not head or found == kind.packed:
        return kind.packed or PLAIN
    if kind.packed == "tar" and found == PLAIN:
        return "tar"  # the oldest tar dialect has no magic, and an empty archive is all zeros
    if kind.packed == "arrow" and found == PLAIN:
        return "arrow"  # before version 0.15 a stream began with the length of its first message
    if kind.packed in (None, PLAIN) and kind.rows in ("txt", "txt_list", "csv", "tsv") and found in _PRINTABLE_MAGIC:
        return PLAIN  # a text may begin with any letters
    if kind.packed is None and found in (PLAIN, *_END_OF):
        return found
    if kind.packed is None:
        raise BadFileError(where, f"{_read_from(kind)}, but the content is {found}; unpack the file")
    promised = kind.rows + _END_OF.get(kind.packed, "")
    raise BadFileError(
        where, f"{promised} promises {kind.packed} bytes, but the content is {found}; {_mend(kind, found)}"
    )


def _read_from(kind: Kind) -> str:
    return f"{kind.rows} is read from {', '.join((PLAIN, *_END_OF))} bytes"


def _mend(kind: Kind, found: str) -> str:
    """Returns what a person can do with a file whose name says `kind` and whose content is another container."""
    if kind.rows in _WHOLE or found not in (PLAIN, *_END_OF):
        named = next((rows for rows, container in _WHOLE.items() if container == found), None)
        if named is None and found == PLAIN:
            return "the file is damaged, or is of another format"
        if named is None or named == "jsonl.zst.tar":
            valid = "" if kind.rows in _WHOLE else f"; {_read_from(kind)}"
            return f"no format of these names is packed as {found}: unpack the file{valid}"
        return f"if that is what it is, let its name end in .{named}, or give its source `format: {named}`"
    rows = "jsonl" if kind.rows == "json" else kind.rows
    end = _END_OF.get(found, "")
    return (
        f"if that is what it is, let its name end in .{rows}{end}, or give its source `format: {rows}`, "
        "which reads every compression"
    )


def check_utf8_start(where: str, head: bytes) -> None:
    """Raises `BadFileError` if decoded content starts like UTF-16 or UTF-32 instead of UTF-8."""
    if head.startswith(_WIDE_STARTS):
        raise BadFileError(where, "starts like UTF-16 or UTF-32; valid is UTF-8")
