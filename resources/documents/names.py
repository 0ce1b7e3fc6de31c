"""Names of documents: how they are printed on one line, and which ids a printed name may stand for.

A name is `SOURCE/ID`. Invisible characters of an id are printed as escapes, so that the printed name is exact and can
be given back: every command and page that takes a name reads it with `ids_of`, `start_of` and `parts_of`.
"""

import re
from collections.abc import Collection, Iterator

CUT = " …"
"""What follows the beginning of an id that is too long to print."""

LONGEST = 600
"""Most characters of an id that are printed; so many fit into the address of a page, whatever they are."""

_ESCAPE = re.compile(r"\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8}")


def shown_id(identifier: str, most: int = LONGEST) -> str:
    """Returns an id on one line, with escapes for what does not print and for white space that would be lost.

    An id with more than `most` characters is cut, and `CUT` added.
    """
    parts: list[str] = []
    left = most
    for place, character in enumerate(identifier):
        part = _printed(identifier, place, character)
        left -= len(part)
        if left < 0:
            return "".join(parts) + CUT
        parts.append(part)
    return "".join(parts)


def document_name(source: str, identifier: str, most: int = LONGEST) -> str:
    """Returns the name of a document as it is printed."""
    return f"{source}/{shown_id(identifier, most)}"


def ids_of(name: str) -> list[str]:
    """Returns the ids that a name without a source may stand for: as it stands, and with escapes read."""
    return list(dict.fromkeys([name, _ESCAPE.sub(_character, name)]))


def start_of(name: str) -> str | None:
    """Returns the beginning of the id if the name was cut (it ends with `CUT`); None for a whole name."""
    return ids_of(name.removesuffix(CUT))[-1] if name.endswith(CUT) and name != CUT else None


def parts_of(name: str, sources: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yields source and name of the id, if a name begins with a source: `SOURCE/ID`, or `SOURCE / ID`."""
    place = name.find("/")
    while place > 0:
        source, rest = name[:place], name[place + 1 :]
        if source in sources and rest:
            yield source, rest
        if source.removesuffix(" ") in sources and source.endswith(" ") and rest.startswith(" ") and rest != " ":
            yield source.removesuffix(" "), rest[1:]
        place = name.find("/", place + 1)


def is_named(name: str, source: str | None, identifier: str) -> bool:
    """Returns whether a name may be that of a document with this id. source: None if it is not known."""
    given = [name] if source is None else [name, *(rest for _, rest in parts_of(name, {source}))]
    starts = [start for one in given if (start := start_of(one)) is not None]
    return any(identifier in ids_of(one) for one in given) or any(identifier.startswith(one) for one in starts)


def _printed(identifier: str, place: int, character: str) -> str:
    if character == " ":
        lost = place in (0, len(identifier) - 1) or identifier[place - 1] == " "
        return "\\x20" if lost else " "
    if character == "…" and place == len(identifier) - 1:
        return "\\u2026"  # An id that ends like `CUT` would seem to be cut.
    if character == "\\" and _ESCAPE.match(identifier, place):
        return "\\x5c"
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"


def _character(escape: re.Match[str]) -> str:
    number = int(escape[0][2:], 16)
    return chr(number) if number <= 0x10FFFF else escape[0]
