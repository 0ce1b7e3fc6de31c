"""Turns the bytes of a web page into text: byte order mark, then HTTP, then the page itself, then UTF-8, then Latin.

Names of charsets mean what browsers take them for (WHATWG Encoding Standard, "Names and labels").
"""

import codecs
import re
from typing import Final

from corpus_assets.raw.web.headers import charset_of

_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_META: Final = re.compile(rb"<meta\s[^>]{0,400}?charset[^>]{1,100}>", re.IGNORECASE)
_XML: Final = re.compile(rb"""<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})""")
_HEAD: Final = 4096
"""Bytes of a page in which it may name its charset; browsers look at the first 1024."""

_NAMED: Final = {
    "utf-8": "utf-8",
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "cp1252": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "hz": "hz",
    "big5": "big5hkscs",
    "big5hkscs": "big5hkscs",
    "cp950": "big5hkscs",
    "shift_jis": "cp932",
    "cp932": "cp932",
    "euc_jp": "euc_jp",
    "iso2022_jp": "iso2022_jp",
    "euc_kr": "cp949",
    "cp949": "cp949",
    "tis-620": "cp874",
    "iso8859-11": "cp874",
    "cp874": "cp874",
    "cp866": "cp866",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "mac-roman": "mac-roman",
    "mac-cyrillic": "mac-cyrillic",
    "utf-16": "utf-16-le",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    **{f"iso8859-{n}": f"iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"cp{n}": f"cp{n}" for n in (1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258)},
}
"""The codec for each of Python's charsets that pages may name. Anything else counts as not named."""


def decoded(content: bytes, told: str | None, *, is_html: bool) -> str:
    """Returns a page as text; bytes that are nothing in its charset become U+FFFD. told: the charset HTTP names."""
    for mark, codec in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(codec, "replace")
    named = _codec(told) or (_codec(_own(content)) if is_html else None)
    if named:
        return content.decode(named, "replace")
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _own(content: bytes) -> str | None:
    """Returns the charset that a page names itself; a page whose name can be read is not in UTF-16."""
    head = content[:_HEAD]
    if xml := _XML.match(head.lstrip()):
        return xml[1].decode()
    meta = _META.search(head)
    found = charset_of(meta[0].decode("latin-1").rstrip("/> ")) if meta else None
    return "utf-8" if found and found.lower().startswith("utf-16") else found


def _codec(name: str | None) -> str | None:
    """Returns the codec for the name of a charset; None if it is none that pages are written in."""
    if not name or len(name) > 40 or not name.isascii():
        return None
    try:
        return _NAMED.get(codecs.lookup(name.lower().removeprefix("x-")).name)
    except (LookupError, ValueError):
        return None
