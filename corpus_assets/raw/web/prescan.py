"""Finds the encoding that a page declares (HTML Standard, "prescan a byte stream to determine its encoding").

Unlike there, elements with text content are skipped: scripts, styles, titles and so on. A browser that first decoded by
a `<meta` in a script changes to the real one when it has read that far.
"""

import re
from collections.abc import Iterator
from typing import Final

from corpus_assets.raw.web.encodings import encoding_of

_SPACE: Final = b"\t\n\f\r "
_NAME_ENDS: Final = re.compile(rb"[\t\n\f\r />=]")
_NOT_BEFORE_NAME: Final = re.compile(rb"[\t\n\f\r /]*")
_SPACES: Final = re.compile(rb"[\t\n\f\r ]*")
_UNQUOTED: Final = re.compile(rb"[^\t\n\f\r >]*")
_TAG: Final = re.compile(rb"</?[A-Za-z][^\t\n\f\r >]*")
_META: Final = re.compile(rb"<meta(?=[\t\n\f\r /])", re.IGNORECASE)
_TEXT_INSIDE: Final = re.compile(
    rb"<(script|style|title|textarea|xmp|iframe|noembed|noframes)(?=[\t\n\f\r />])", re.IGNORECASE
)
_XML: Final = re.compile(rb"""encoding[\x00-\x20]*=[\x00-\x20]*(?:"([^">]*)"|'([^'>]*)')""")
_CONTENT: Final = re.compile(
    rb"""charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r ;"'][^\t\n\f\r ;]*))""", re.IGNORECASE
)
_UTF_16_XML: Final = {b"<\0?\0x\0": "utf-16le", b"\0<\0?\0x": "utf-16be"}


def declared(head: bytes) -> str | None:
    """Returns the encoding that the beginning of a page declares: by `meta`, else by an XML declaration."""
    if head[:6] in _UTF_16_XML:
        return _UTF_16_XML[head[:6]]
    return next(_of_metas(head), None) or _of_xml(head)


def _of_metas(head: bytes) -> Iterator[str]:
    """Yields the encoding of each `meta` element that declares one."""
    place = 0
    while (place := head.find(b"<", place)) >= 0:
        if head.startswith(b"<!--", place):
            place = _after(head, b"-->", place + 2)
        elif meta := _META.match(head, place):
            attributes, place = _attributes(head, meta.end())
            if found := _of_meta(attributes):
                yield found
        elif tag := _TAG.match(head, place):
            text = _TEXT_INSIDE.match(head, place)
            _, place = _attributes(head, tag.end())
            if text:
                place = _after_text(head, text[1], place)
        elif head[place + 1 : place + 2] in (b"!", b"/", b"?"):
            place = _after(head, b">", place)
        else:
            place += 1


def _after(head: bytes, end: bytes, place: int) -> int:
    found = head.find(end, place)
    return found + len(end) if found >= 0 else len(head)


def _after_text(head: bytes, name: bytes, place: int) -> int:
    """Returns where the end tag of a text-only element begins."""
    end = re.compile(rb"</" + name + rb"(?=[\t\n\f\r />])", re.IGNORECASE).search(head, place)
    return end.start() if end else len(head)


def _attributes(head: bytes, place: int) -> tuple[dict[bytes, bytes], int]:
    """Returns the attributes of a tag in small letters (the first of several with the same name), and their end.

    A cut tag has none.
    """
    found: dict[bytes, bytes] = {}
    while True:
        attribute, place = _attribute(head, place)
        if attribute is None:
            return ({}, place) if place >= len(head) else (found, place)
        found.setdefault(*attribute)


def _attribute(head: bytes, place: int) -> tuple[tuple[bytes, bytes] | None, int]:
    """Returns the next attribute of a tag and where it ends (HTML Standard, "get an attribute"); None at its end."""
    place = _end(_NOT_BEFORE_NAME, head, place)
    if head[place : place + 1] in (b">", b""):
        return None, place
    ends = _NAME_ENDS.search(head, place + 1)
    if ends is None:
        return None, len(head)
    name = head[place : ends.start()].lower()
    place = _end(_SPACES, head, ends.start())
    if head[place : place + 1] != b"=":
        return (name, b""), place
    place = _end(_SPACES, head, place + 1)
    mark = head[place : place + 1]
    if mark in (b'"', b"'"):
        end = head.find(mark, place + 1)
        return (None, len(head)) if end < 0 else ((name, head[place + 1 : end].lower()), end + 1)
    end = _end(_UNQUOTED, head, place)
    return ((name, head[place:end].lower()), end) if end < len(head) else (None, len(head))


def _end(pattern: re.Pattern[bytes], head: bytes, place: int) -> int:
    match = pattern.match(head, place)
    return match.end() if match else place


def _of_meta(attributes: dict[bytes, bytes]) -> str | None:
    """Returns the encoding that a `meta` element declares, by `charset` or by `http-equiv` and `content`."""
    if b"charset" in attributes:
        found = _label(attributes[b"charset"])
    elif attributes.get(b"http-equiv") == b"content-type":
        named = _CONTENT.search(attributes.get(b"content", b""))
        found = _label(next(part for part in named.groups() if part is not None)) if named else None
    else:
        found = None
    # A page whose declaration is readable as ASCII cannot be UTF-16.
    return {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}.get(found or "", found)


def _of_xml(head: bytes) -> str | None:
    """Returns the encoding of an XML declaration (HTML Standard, "get an XML encoding")."""
    if not head.startswith(b"<?xml"):
        return None
    end = head.find(b">")
    named = _XML.search(head, 0, end) if end >= 0 else None
    if named is None:
        return None
    label = next(part for part in named.groups() if part is not None)
    found = None if any(byte <= 0x20 for byte in label) else _label(label)
    return "utf-8" if found in ("utf-16le", "utf-16be") else found


def _label(value: bytes) -> str | None:
    return encoding_of(value.decode("latin-1"))
