"""Turns the bytes of a web page into text: byte order mark, then HTTP, then the page itself, then UTF-8, then a guess.

Names of charsets are interpreted, and declarations in pages found, as browsers do it (docs/inputs.md "Web crawls").
"""

from typing import Final, NamedTuple

from chardetng_py import EncodingDetector

from corpus_assets.raw.binary import REPLACEMENT
from corpus_assets.raw.web.encodings import decode, encoding_of
from corpus_assets.raw.web.prescan import declared

_MARKS: Final = (
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16le"),
    (b"\xfe\xff", "utf-16be"),
)
_PRESCANNED: Final = 1024
_LATE: Final = 1 << 16
"""Bytes in which a page may declare its charset. Browsers start with the declaration in the first 1024, and start again
for a `meta` that they find later.
"""
_GUESSED: Final = 1 << 17
"""Bytes from which the charset is guessed."""

_SHIFTS: Final = (b"\x1b$B", b"\x1b$@")
"""The escapes that begin Japanese text in ISO-2022-JP."""

_HOLDSREPLACEMENT: Final = frozenset({"utf-8", "utf-16le", "utf-16be", "utf-32-le", "utf-32-be", "gb18030", "gbk"})


class Read(NamedTuple):
    """A page as text.

    encoding: how it was decoded.
    guessed: whether no declaration gave it.
    replaced: number of U+FFFD for bytes that are invalid in the encoding.
    """

    text: str
    encoding: str
    guessed: bool
    replaced: int

    @property
    def is_sound(self) -> bool:
        """Whether the bytes are valid Unicode."""
        return not self.replaced and self.encoding.startswith("utf-")


def read(content: bytes, told: str | None, *, is_html: bool) -> Read:
    """Returns a page as text; bytes that are invalid in its charset become U+FFFD. told: the charset in HTTP."""
    for mark, marked in _MARKS:
        if content.startswith(mark):
            return _read(content[len(mark) :], marked)
    if encoding := encoding_of(told or "") or (declared(content[:_PRESCANNED]) if is_html else None):
        return _read(content, encoding)
    if not _shifts(content):
        try:
            return Read(content.decode(), "utf-8", guessed=False, replaced=0)
        except UnicodeDecodeError:
            pass
    if is_html and (encoding := declared(content[:_LATE])):
        return _read(content, encoding)
    return _read(content, guess(content), guessed=True)


def _shifts(content: bytes) -> bool:
    """Returns whether bytes are ISO-2022-JP, which is valid UTF-8 too: ASCII with escapes to Japanese."""
    return any(shift in content for shift in _SHIFTS) and content.isascii() and guess(content) == "iso-2022-jp"


def guess(content: bytes) -> str:
    """Returns the most likely encoding of bytes that are not UTF-8, by their first 128 KiB.

    The detector is Firefox's. It always names one: Windows-1252 if nothing suggests another.
    """
    detector = EncodingDetector()
    detector.feed(content[:_GUESSED], last=True)
    return encoding_of(detector.guess(tld=None, allow_utf8=False)) or "windows-1252"


def _read(content: bytes, encoding: str, *, guessed: bool = False) -> Read:
    text = decode(content, encoding)
    replaced = text.count(REPLACEMENT) if REPLACEMENT in text else 0  # To look for one is much faster.
    if replaced and encoding in _HOLDSREPLACEMENT:
        replaced -= _own(content, encoding)
    return Read(text, encoding, guessed, max(replaced, 0))


def _own(content: bytes, encoding: str) -> int:
    """Returns the number of U+FFFD that the bytes themselves encode."""
    codec = {"utf-16le": "utf-16-le", "utf-16be": "utf-16-be", "gbk": "gb18030"}.get(encoding, encoding)
    return content.decode(codec, "ignore").count(REPLACEMENT)
