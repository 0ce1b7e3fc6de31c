"""What a file is by its first bytes, whatever its name says."""

import io
import json
import re
from typing import BinaryIO, Final, NamedTuple

from corpus_assets.raw.binary import binary_kind, controls
from corpus_assets.raw.formats.names import HEAD_BYTES, UTF8_BOM, container_of, identify, resolve_format
from resources.errors import BadFileError
from resources.formats.codecs import CODECS, CodecError, WindowError, open_packed
from resources.raw_places.data_suffixes import PLAIN, data_suffix
from resources.raw_places.files import printable

HEAD: Final = 64 << 10
WHOLE: Final = ("parquet", "arrow", "jsonl.zst.tar")
"""Formats that are no stream of bytes."""
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")
_HTML: Final = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_ARRAY: Final = "is one JSON array; valid is one object per line (`jq -c '.[]'` makes them)"


class UnreadError(Exception):
    """A file that cannot be a raw file: the reason as a stable word, and in a few words for a person."""

    def __init__(self, reason: str, words: str) -> None:
        super().__init__(words)
        self.reason = reason


class Content(NamedTuple):
    """What a file is. format: as corpus.yaml declares it; `auto` if name and content agree. head: unpacked bytes."""

    format: str
    head: bytes


def content_of(name: str, raw: BinaryIO) -> Content:
    """Returns what a file is by name and first bytes; `UnreadError` if no format of raw files fits."""
    start = raw.read(HEAD_BYTES)
    raw.seek(0)
    if (size := _size(raw)) == 0:
        raise UnreadError("empty", "has no bytes")
    if data_suffix(name) is not None:
        try:
            kind = resolve_format(name)
            packed = container_of(name, kind, start)
        except BadFileError:
            pass
        else:
            return Content("auto", b"" if kind.rows in WHOLE else unpacked(raw, packed, size))
    return _by_bytes(name, start, raw, size)


def _size(raw: BinaryIO) -> int:
    size = raw.seek(0, io.SEEK_END)
    raw.seek(0)
    return size


def unpacked(raw: BinaryIO, container: str, size: int) -> bytes:
    """Returns the first bytes of a stream, unpacked; `UnreadError` if they cannot be."""
    raw.seek(0)
    if container not in CODECS:
        return raw.read(min(HEAD, size))
    try:
        return open_packed(raw, container, None).read(HEAD)
    except WindowError as error:
        raise UnreadError("damaged", f"{error} (`largest_window` of its source allows more)") from None
    except CodecError as error:
        raise UnreadError("damaged", str(error)) from None


def _by_bytes(name: str, start: bytes, raw: BinaryIO, size: int) -> Content:
    """Returns what a file is if its name does not say it, or says something else."""
    container = identify(start)
    if container in WHOLE:
        return Content(container, b"")
    if container == "tar":
        return Content(_archive(start), b"")
    if container not in (PLAIN, *CODECS):
        raise UnreadError("packed", f"is packed as {container}; unpack it")
    head = unpacked(raw, container, size)
    return Content(_kind(name, head), head)


def _archive(start: bytes) -> str:
    member = start[:100].split(b"\0")[0]
    if member.lower().endswith((b".jsonl.zst", b"/")):
        return "jsonl.zst.tar"
    raise UnreadError("archive", f"is a tar of {printable(member.decode('utf-8', 'replace'))!r} and others; unpack it")


def _kind(name: str, head: bytes) -> str:
    """Returns the format of unpacked bytes, without packing."""
    if (head.startswith(_WIDE) or b"\0" in head[:4]) and not binary_kind(head):
        raise UnreadError("utf16", "starts like UTF-16 or UTF-32, or is binary; valid is UTF-8")
    if found := binary_kind(head):
        raise UnreadError("binary", f"begins like {found}")
    if head.startswith(b"WARC/"):
        return "warc"
    text = _as_text(head.removeprefix(UTF8_BOM), whole=len(head) < HEAD)
    if (shown := json_lines(text)) is not None:
        if shown:
            raise UnreadError("json", shown)
        return "jsonl"
    for table in ("csv", "tsv"):
        if f".{table}" in name.lower():
            return table
    if _HTML.match(head):
        raise UnreadError("html", "is HTML, whose text is read from WARC files only")
    return "txt"


def _as_text(head: bytes, *, whole: bool) -> str:
    try:
        text = head.decode()
    except UnicodeDecodeError as fault:
        if whole or fault.start < len(head) - 4:
            raise UnreadError("not_utf8", f"is no UTF-8: byte 0x{head[fault.start]:02x} at {fault.start}") from None
        text = head[: fault.start].decode()
    if share := controls(text, sound=True):
        raise UnreadError("binary", f"is no text: {share} of its characters are NUL or control characters")
    return text


def json_lines(text: str) -> str | None:
    """Returns empty if a text begins like JSON lines, a reason if like other JSON, None if it is no JSON."""
    start = text.lstrip()
    if start[:1] == "[":
        return _ARRAY if re.match(r"\[\s*[{\[]", start) else None
    if start[:1] != "{":
        return None
    first, newline, _ = start.partition("\n")
    try:
        return "" if isinstance(json.loads(first), dict) else None
    except (ValueError, RecursionError):
        if not newline:
            return "" if len(start) > HEAD // 2 else None  # A long first row.
        return "is one JSON value over several lines; valid is one object per line" if _spread(start) else None


def _spread(start: str) -> bool:
    return re.match(r'\{\s*\n?\s*"[^"\n]*"\s*:', start) is not None
