"""Recognizes bytes that are no text: by signatures of binary files, and by characters that are rare in texts.

The signatures are those of the MIME Sniffing Standard of the WHATWG (sections 6 and 7), and of further files that web
servers send under a text type.
"""

import re
from typing import Final

HEADER_BYTES: Final = 1445
"""Bytes of a resource that the standard looks at."""

REPLACEMENT: Final = "\ufffd"
_MOST_CONTROLS: Final = 0.05
_MOST_REPLACED: Final = 0.2
"""Shares of such characters from which on bytes are no text. Random bytes have 11 % of control characters."""
_FEW: Final = {True: 32, False: 4}
"""Such characters that are always allowed, if the bytes are not or are valid UTF-8; binary files rarely are."""

_BINARY: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""The standard's binary data bytes."""
_ASCII_CONTROLS: Final = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F])
_OTHER_CONTROLS: Final = re.compile(rb"\xc2[\x80-\x84\x86-\x9f]")
"""U+0080 to U+009F without U+0085, which ends lines, in UTF-8."""
_PRINTABLE: Final = re.compile(rb"[\t\n\r -~]")
_MOSTLY: Final = 0.8
_ENOUGH: Final = 64
"""Of 1,000 compressed contents of this size, 999 have at least one binary byte."""
_MARKS: Final = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\0\0\xfe\xff")

_SURE: Final = (
    # 6.1 images
    ("image/x-icon", rb"\x00\x00[\x01\x02]\x00"),
    ("image/png", rb"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", rb"\xff\xd8\xff"),
    # 6.2 audio and video
    ("application/ogg", rb"OggS\x00"),
    ("audio/midi", rb"MThd\x00\x00\x00\x06"),
    # 6.3 fonts
    ("application/vnd.ms-fontobject", rb".{8}[\x00-\x02]\x00[\x01\x02]\x00.{22}LP"),
    ("font/ttf", rb"\x00\x01\x00\x00"),
    # 6.4 archives
    ("application/gzip", rb"\x1f\x8b\x08"),
    ("application/zip", rb"PK(?:\x03\x04|\x05\x06|\x07\x08)"),
    ("application/x-rar-compressed", rb"Rar!\x1a\x07"),
    # 7.1 documents
    ("application/pdf", rb"%PDF-"),
    ("application/postscript", rb"%!PS-Adobe-"),
    # further ones
    ("application/x-executable", rb"\x7fELF"),
    ("application/x-mach-binary", rb"(?:\xfe\xed\xfa[\xce\xcf]|[\xce\xcf]\xfa\xed\xfe)"),
    ("application/java-vm", rb"\xca\xfe\xba\xbe"),
    ("application/wasm", rb"\x00asm"),
    ("application/x-7z-compressed", rb"7z\xbc\xaf\x27\x1c"),
    ("application/x-xz", rb"\xfd7zXZ\x00"),
    ("application/zstd", rb"(?:\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)"),
    ("application/x-bzip2", rb"BZh[1-9]1AY&SY"),
    ("application/x-compress", rb"\x1f[\x9d\xa0]"),
    ("application/x-lz4", rb"\x04\x22\x4d\x18"),
    ("application/vnd.ms-cab-compressed", rb"MSCF\x00"),
    ("application/x-ole-storage", rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    ("application/vnd.sqlite3", rb"SQLite format 3\x00"),
    ("application/x-hdf5", rb"\x89HDF\r\n\x1a\n"),
    ("application/vnd.ms-htmlhelp", rb"ITSF\x03"),
    ("image/vnd.adobe.photoshop", rb"8BPS\x00"),
    ("image/tiff", rb"(?:II\x2a\x00|MM\x00\x2a)"),
    ("image/jp2", rb"\x00\x00\x00\x0cjP  \r\n\x87\n"),
    ("audio/basic", rb"\.snd\x00"),
    ("video/x-flv", rb"FLV\x01"),
    ("video/x-ms-asf", rb"\x30\x26\xb2\x75\x8e\x66\xcf\x11"),
    ("video/mpeg", rb"\x00\x00\x01[\xb3\xba]"),
)
"""Beginnings of files of a type that no text has."""

_MAYBE: Final = (
    ("image/bmp", rb"BM"),
    ("image/gif", rb"GIF8[79]a"),
    ("image/webp", rb"RIFF....WEBP"),
    ("audio/aiff", rb"FORM....AIF[FC]"),
    ("audio/mpeg", rb"ID3"),
    ("video/avi", rb"RIFF....AVI "),
    ("audio/wave", rb"RIFF....WAVE"),
    ("font/otf", rb"OTTO"),
    ("font/collection", rb"ttcf"),
    ("font/woff", rb"wOFF"),
    ("font/woff2", rb"wOF2"),
    ("application/x-msdownload", rb"MZ"),
    ("application/x-tar", rb".{257}ustar[\x00 ]"),
    ("application/x-parquet", rb"PAR1"),
    ("application/x-shockwave-flash", rb"[CFZ]WS"),
    ("image/vnd.djvu", rb"AT&TFORM"),
    ("audio/flac", rb"fLaC"),
    ("audio/amr", rb"#!AMR"),
)
"""Beginnings of files of a type that texts may have too; they count only with a binary byte nearby."""


def _compiled(table: tuple[tuple[str, bytes], ...]) -> tuple[list[str], re.Pattern[bytes]]:
    """Returns the types of a table, and an expression with a group for each."""
    kinds, patterns = zip(*table, strict=True)
    return list(kinds), re.compile(b"|".join(b"(%b)" % pattern for pattern in patterns), re.DOTALL)


_SIGNATURES: Final = {True: _compiled(_SURE), False: _compiled(_SURE + _MAYBE)}
"""The possible signatures, depending on whether the beginning has no binary byte."""


def binary_kind(content: bytes) -> str | None:
    """Returns the type of a binary file by its first bytes; None if no signature matches."""
    if content.startswith(_MARKS):
        return None
    head = content[:HEADER_BYTES]
    kinds, pattern = _SIGNATURES[not _BINARY.search(head)]
    if found := pattern.match(head):
        return kinds[(found.lastindex or 0) - 1]
    if is_mp4(content):
        return "video/mp4"
    if is_webm(head):
        return "video/webm"
    return "audio/mpeg" if is_mp3(content) else None


def is_mp4(content: bytes) -> bool:
    """Returns whether bytes are the beginning of an MP4 file (6.2.1), of any brand and not only `mp4`."""
    size = int.from_bytes(content[:4], "big")
    return len(content) >= 12 and 12 <= size <= HEADER_BYTES and not size % 4 and content[4:8] == b"ftyp"


def is_webm(content: bytes) -> bool:
    """Returns whether bytes are the beginning of a WebM file (6.2.2), or of another Matroska file."""
    return content.startswith(b"\x1a\x45\xdf\xa3")


_RATES: Final = {
    3: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    **dict.fromkeys((0, 2), (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)),
}
_SAMPLES: Final = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}


def is_mp3(content: bytes) -> bool:
    """Returns whether bytes begin with two frames of MP3 (6.2.3): audio that has no ID3 tag before it."""
    size = _mp3_frame(content)
    return size is not None and _mp3_frame(content[size : size + 4]) is not None


def _mp3_frame(content: bytes) -> int | None:
    """Returns the bytes of a frame by its header (ISO 11172-3, layer III); None if it is none."""
    if len(content) < 4 or content[0] != 0xFF or content[1] & 0xE0 != 0xE0:
        return None
    version, layer = content[1] >> 3 & 3, content[1] >> 1 & 3
    rate, sample, padded = content[2] >> 4, content[2] >> 2 & 3, content[2] >> 1 & 1
    if version not in _RATES or layer != 1 or rate in (0, 15) or sample == 3:
        return None
    slots = 144 if version == 3 else 72
    return slots * _RATES[version][rate] * 1000 // _SAMPLES[version][sample] + padded


def controls(text: str, *, sound: bool = False) -> str | None:
    """Returns in words the share of NUL and control characters (without ESC) in a text, if it is too large.

    sound: whether the text was valid UTF-8.
    """
    content = text.encode("utf-8", "surrogatepass")
    count = len(content) - len(content.translate(None, _ASCII_CONTROLS)) + len(_OTHER_CONTROLS.findall(content))
    return _share(count, text, _MOST_CONTROLS, sound=sound)


def replacements(text: str, *, sound: bool = False) -> str | None:
    """Returns in words the share of U+FFFD in a text, original or from decoding, if it is too large."""
    return _share(text.count(REPLACEMENT) if REPLACEMENT in text else 0, text, _MOST_REPLACED, sound=sound)


def _share(count: int, text: str, most: float, *, sound: bool) -> str | None:
    return f"{count / len(text):.0%}" if count > max(_FEW[sound], most * len(text)) else None


def seems_text(content: bytes) -> bool:
    """Returns whether unknown bytes seem to be uncompressed text: UTF-8, or without binary bytes."""
    try:
        return controls(content.decode(), sound=True) is None
    except UnicodeDecodeError:
        is_likely = len(content) >= _ENOUGH or len(_PRINTABLE.findall(content)) > _MOSTLY * len(content)
        return is_likely and not _BINARY.search(content)


def has_many_binary(content: bytes) -> bool:
    """Returns whether more bytes than a text may have are binary data bytes."""
    return sum(1 for _ in _BINARY.finditer(content)) > _MOST_CONTROLS * len(content)
