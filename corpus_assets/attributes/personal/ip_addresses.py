"""IPv4 and IPv6 addresses in running text. `ipaddress` validates them; this module rejects versions and times."""

import ipaddress
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from corpus_assets.attributes.personal.signs import Signs
from corpus_assets.attributes.personal.spans import apart

WINDOW = 64
"""Code points that are examined on either side; no address is longer."""

_DIGITS, _HEX = "0123456789.", "0123456789abcdefABCDEF:."
_SMALLEST_FULL_GROUP = 3
_FEWEST_GROUPS = 3
_LOOPBACK = "::1"
_ASSIGNED = re.compile(r"(?:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]|ff[0-9a-f]{2}):", re.I)
_NAMED_VERSION = re.compile(
    r"\b(?:v|ver|versions?|releases?|rel|revision|rev|build|firmware|patch|sections?|sec|chapter|clause|figure|fig|table"
    r"|appendix)[\s.:=#]*(?:(?:is|are|was|no\.?|number) )?$|§\s?$",
    re.I,
)
_VERSION_BEHIND = re.compile(
    r"[-._]?(?:alpha|beta|rc|dev|pre|snapshot|final|post)\.?[0-9]*\b"
    r"|\s(?:(?:is|was|were|has|have|been|will|be|now|just) )*(?:released|release|build)\b"
    r"|(?:[-_.][a-z0-9]+)*\.(?:tar|tgz|zip|[bgx]z2?|rpm|deb|jar|whl|exe|msi|dmg|so|dll|apk|pkg|iso|img|bin|gem|nupkg)\b",
    re.I,
)
_SAYS_ADDRESS = re.compile(
    r"\b(?:ips?|ipv4|address(?:es)?|addr|hosts?|hostname|servers?|dns|gateway|router|ping|subnet|netmask|nameserver"
    r"|resolver|client|remote|proxy|network|listen(?:ing)?|bind)\b|(?:://|@)$",
    re.I,
)
_ADDRESS_BEHIND = re.compile(r":[0-9]{2,5}\b|/[0-9]{1,2}\b")


def ip_addresses(string: str, signs: Signs) -> Iterator[tuple[int, int]]:
    """Yields beginning and end of each address, in the order of the text. signs: those of the text."""
    long = list(_ipv6(string)) if signs.colons else []
    yield from sorted([*long, *apart(_ipv4(string), long)]) if signs.dots else long


def _ipv4(string: str) -> Iterator[tuple[int, int]]:
    for begin, stop in _runs(string, _patterns().dots, _DIGITS):
        word = string[begin:stop].strip(".")
        start = begin + string[begin:stop].index(word)
        end = start + len(word)
        if _stands_alone(string, start, end) and _is_ipv4(word) and not _is_version(string, start, end):
            yield start, end


def _is_ipv4(word: str) -> bool:
    try:
        return bool(ipaddress.IPv4Address(word))
    except ValueError:
        return False


def _is_version(string: str, start: int, end: int) -> bool:
    """Returns whether the words beside four numbers show that they are a version, or a section of a book.

    Four numbers of one digit count as one, unless the words before them say otherwise: only 2 in a million addresses
    look like that.
    """
    before = string[max(0, start - WINDOW) : start].rpartition("\n")[2]
    behind = string[end : end + WINDOW].partition("\n")[0]
    if _NAMED_VERSION.search(before) or _VERSION_BEHIND.match(behind):
        return True
    short = end - start == len("1.2.3.4")
    return short and not (_SAYS_ADDRESS.search(before) or _ADDRESS_BEHIND.match(behind))


def _ipv6(string: str) -> Iterator[tuple[int, int]]:
    for start, end in _runs(string, _patterns().colons, _HEX):
        begin, word = start, string[start:end]
        if begin and _is_alnum(string[begin - 1]):  # In `iface:2001:db8::1` the letters of the name are not a group.
            begin, word = begin + word.find(":"), word[word.find(":") :]
        stripped = word.rstrip(".")
        stripped = stripped[:-1] if stripped.endswith(":") and not stripped.endswith("::") else stripped
        if stripped.startswith(":") and not stripped.startswith("::"):
            begin, stripped = begin + 1, stripped[1:]
        stop = begin + len(stripped)
        if not (stop < len(string) and _is_alnum(string[stop])) and _is_ipv6(stripped, string, begin, stop):
            yield begin, stop


def _is_ipv6(word: str, string: str, start: int, end: int) -> bool:
    """Returns whether a word is an address, and not a Python slice, a C++ name or a hardware address."""
    try:
        ipaddress.IPv6Address(word)
    except ValueError:
        return False
    if word == _LOOPBACK:
        before = string[max(0, start - 2) : start].rjust(2)
        return before[1].isspace() or (before[1] == "[" and not _is_alnum(before[0]) and string[end : end + 1] == "]")
    groups = [group for group in word.split(":") if group]
    long = any(len(group) >= _SMALLEST_FULL_GROUP for group in groups)
    return "." in word or _ASSIGNED.match(word) is not None or (long and len(groups) >= _FEWEST_GROUPS)


def _runs(string: str, inside: Any, characters: str) -> Iterator[tuple[int, int]]:
    """Yields the runs of these characters around each match, with at most WINDOW of them on either side."""
    done = 0
    for match in inside.finditer(string):
        if match.start() < done:
            continue
        before = string[max(done, match.start() - WINDOW) : match.start()]
        behind = string[match.start() : match.end() + WINDOW]
        start = match.start() - len(before) + len(before.rstrip(characters))
        goes_on = done and start == done and string[start - 1] in characters
        done = match.start() + len(behind) - len(behind.lstrip(characters))
        if not goes_on:
            yield start, done


def _stands_alone(string: str, start: int, end: int) -> bool:
    return not (start and _is_alnum(string[start - 1])) and not (end < len(string) and _is_alnum(string[end]))


def _is_alnum(character: str) -> bool:
    return character.isascii() and character.isalnum()


class _Patterns:
    """Patterns, compiled once and late, since `regex` loads slowly and plans need none.

    They find parts that every address has.
    """

    def __init__(self) -> None:
        import regex

        self.dots: Any = regex.compile(r"\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]")
        self.colons: Any = regex.compile(r":[0-9A-Fa-f]{0,4}:")


_patterns = cache(_Patterns)
