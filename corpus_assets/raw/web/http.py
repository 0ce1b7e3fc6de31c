"""Extracts the body of an HTTP response: joins chunks and decompresses content, with limits."""

import io
import re
import zlib
from typing import Final, NamedTuple

from corpus_assets.raw.binary import binary_kind, has_many_binary, seems_text
from corpus_assets.raw.rows.faults import RowError
from corpus_assets.raw.rows.rules import Limits
from corpus_assets.raw.web.headers import HeaderError, Headers, read_headers
from resources.formats.codecs import CodecError, open_zstd

_STATUS: Final = re.compile(r"(?:HTTP/[0-9.]+|ICY)\s+([0-9]{3})(?:\s.*)?")
_CHUNK: Final = re.compile(rb"\s*([0-9a-fA-F]{1,8})\s*(?:;[^\r\n]*)?\r?\n")
_LINE_END: Final = re.compile(rb"\r?\n")
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_ENCODINGS: Final = 4
_NONE: Final = ("", "identity", "none")
_UNREADABLE: Final = frozenset(
    {
        *("aes128gcm", "br", "compress", "dcb", "dcz", "exi", "pack200-gzip", "x-compress"),
        *("bzip2", "lz4", "lzma", "sdch", "snappy", "x-bzip2", "xz"),
    }
)
"""Codings that are registered for HTTP or in use, but not decoded here."""


class Response(NamedTuple):
    """An HTTP response: status, headers by name in small letters, and the body as it was sent."""

    status: int
    headers: Headers
    payload: bytes


def parse_response(block: bytes) -> Response:
    """Returns the response in a record; raises `RowError` (`bad_http`) if it does not begin like one."""
    stream = io.BytesIO(block)
    try:
        first, headers = read_headers(stream)
    except HeaderError as fault:
        raise RowError("bad_http", str(fault)) from None
    status = _STATUS.fullmatch(first)
    if status is None:
        raise RowError("bad_http", f"begins with {first[:40]!r}; valid: HTTP/1.1 and a status")
    return Response(int(status[1]), headers, stream.read())


def body(response: Response, limits: Limits, *, cut: bool) -> bytes:
    """Returns the content of a response, of at most `limits.line_bytes` and the ratio that `limits` has.

    Codings of the transfer are decoded, then those of the content, the last one first. Many crawlers store decoded
    content with the headers of encoded content, and some servers declare an encoding for plain text; so content that
    does not look encoded is used unchanged. cut: the crawler declares that it did not store all of it, so an early end
    is no fault. Raises `RowError`: `bad_chunks`, `bad_encoding`, `unknown_encoding`, `too_large`.
    """
    content = response.payload
    encodings = [*_named(response, "content-encoding"), *_named(response, "transfer-encoding")]
    # Servers and proxies both name it; content has chunks once (RFC 9112, 6.1).
    if encodings.count("chunked") > 1:
        encodings = [*filter("chunked".__ne__, encodings), "chunked"]
    if len(encodings) > _ENCODINGS:
        raise RowError("unknown_encoding", f"content is encoded {len(encodings)} times")
    for name in reversed(encodings):
        if name == "chunked":
            content = _joined_chunks(content, cut=cut)
        else:
            limit = min(limits.line_bytes, limits.decompressed(len(response.payload)))
            content = _decoded(content, name, limit, cut=cut)
    if len(content) > limits.line_bytes:
        raise RowError("too_large", f"content has more than {limits.line_bytes} bytes (`longest_row`)")
    return content


def _named(response: Response, header: str) -> list[str]:
    """Returns the codings that a header names, in the order in which they were applied."""
    names = (name.partition(";")[0].strip().lower() for name in response.headers.get(header, "").split(","))
    return [name for name in names if name not in _NONE]


def _joined_chunks(content: bytes, *, cut: bool) -> bytes:
    """Returns the data of all chunks (RFC 9112, 7.1); content that does not begin with a chunk size is unchanged."""
    pieces: list[bytes] = []
    place = 0
    while True:
        size = _CHUNK.match(content, place)
        if size is None:
            if not pieces:
                return content
            if cut:
                return b"".join(pieces)
            raise RowError("bad_chunks", f"no size of a chunk at byte {place} of the body")
        length = int(size[1], 16)
        if not length:
            return b"".join(pieces)
        pieces.append(content[size.end() : size.end() + length])
        end = _LINE_END.match(content, size.end() + length)
        if end is None and not cut:
            raise RowError("bad_chunks", f"the chunk at byte {place} of the body is not as long as it says")
        place = end.end() if end else len(content)


def _decoded(content: bytes, name: str, limit: int, *, cut: bool) -> bytes:
    if not content or content.lstrip()[:1] == b"<":
        return content
    if name in ("gzip", "x-gzip"):
        return _inflated(content, 31, limit, cut=cut) if content.startswith(_GZIP) else content
    if name == "deflate":
        return _from_deflate(content, limit, cut=cut)
    if name == "zstd":
        return _from_zstd(content, limit)
    if seems_text(content) or (name not in _UNREADABLE and (binary_kind(content) or not has_many_binary(content))):
        return content  # An unknown name says nothing, so the content decides.
    raise RowError("unknown_encoding", f"content is encoded as {name[:40]!r}; readable: gzip, deflate, zstd")


def _from_deflate(content: bytes, limit: int, *, cut: bool) -> bytes:
    """Returns inflated content, with the header of zlib or without, as servers send both."""
    has_header = len(content) > 1 and content[0] & 15 == 8 and int.from_bytes(content[:2], "big") % 31 == 0
    try:
        return _inflated(content, 15 if has_header else -15, limit, cut=cut)
    except RowError as fault:
        if fault.reason == "bad_encoding" and seems_text(content):
            return content
        raise


def _inflated(content: bytes, window: int, limit: int, *, cut: bool) -> bytes:
    """Returns inflated content; all members of gzip."""
    pieces: list[bytes] = []
    room = limit
    while content:
        inflater = zlib.decompressobj(window)
        try:
            pieces.append(inflater.decompress(content, room + 1))
        except zlib.error as fault:
            raise RowError("bad_encoding", f"compressed content is damaged: {fault}") from None
        room -= len(pieces[-1])
        if room < 0:
            raise RowError("too_large", f"content decompresses to more than {limit} bytes")
        if not inflater.eof and not cut:
            raise RowError("bad_encoding", "compressed content is cut")
        rest = inflater.unused_data
        content = rest if rest.startswith(_GZIP) and window == 31 else b""
    return b"".join(pieces)


def _from_zstd(content: bytes, limit: int) -> bytes:
    if not content.startswith(_ZSTD) and seems_text(content):
        return content
    try:
        found = open_zstd(io.BytesIO(content)).read(limit + 1)
    except CodecError as fault:
        raise RowError("bad_encoding", str(fault)) from None
    if len(found) > limit:
        raise RowError("too_large", f"content decompresses to more than {limit} bytes")
    return found
