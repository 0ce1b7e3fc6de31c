"""Pieces of a text that stay when others are removed, with their places in it.

Source: DCLM's modifiers (github.com/mlfoundations/dclm, baselines/mappers/modifiers.py): addresses of the web and of
machines, newlines beyond two, lines by what they are made of, and words of web pages in short lines.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Any, NamedTuple

Places = tuple[tuple[int, int], ...]
"""Beginnings and ends in the whole text, in its order."""


class Part(NamedTuple):
    """A string, and the places of its pieces in the whole text."""

    string: str
    places: Places

    def cut(self, start: int, end: int) -> "Part":
        """Returns a part of it."""
        found, done = [], 0
        for first, last in self.places:
            begin, stop = max(start - done, 0), min(end - done, last - first)
            if begin < stop:
                found.append((first + begin, first + stop))
            done += last - first
        return Part(self.string[start:end], tuple(found))

    def without(self, pattern: re.Pattern[str]) -> "Part":
        """Returns what is left without the matches of a pattern."""
        stay, done = [], 0
        for match in pattern.finditer(self.string):
            stay.append((done, match.start()))
            done = match.end()
        return self if not stay else self.joined([*stay, (done, len(self.string))])

    def joined(self, ranges: Iterable[tuple[int, int]]) -> "Part":
        """Returns pieces of it, joined."""
        cuts = [self.cut(start, end) for start, end in ranges if start < end]
        return Part("".join(cut.string for cut in cuts), tuple(place for cut in cuts for place in cut.places))


class Line(NamedTuple):
    """A line without its newline. end: the newline behind it; empty for the last one."""

    part: Part
    end: Part

    @property
    def string(self) -> str:
        """Its text."""
        return self.part.string


Lines = Sequence[Line]
_ADDRESS = r"[-a-zA-Z0-9()@:%_\+.~#?&//=]*"
_MACHINE = re.compile(r"\s{0,10}\b((https?|ftp)://)?(?:[0-2]?[0-9]{1,2}\.){3}[0-2]?[0-9]{1,2}" + _ADDRESS)
_MANY_NEWLINES = re.compile("(?<=\n\n)\n+")
_COUNTER = re.compile(
    r"^\W*\d(?:,|\.|\d)*(?:K|k|M|m|B|b)?\s+(?:likes|shares|comments|retweets|reposts|quotes|bookmarks|upvotes|downvotes"
    r"|downloads|views|followers)\W*$"
)
_LONGEST = 10
_PHRASES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (r"\s?(?:items in cart)", r"\s?(?:read more...)$", r"^(?:sign-in)\s?")
)


def _trie(words: Iterable[str]) -> str:
    """Returns an expression that matches the longest of the words at a place."""
    top: dict[str, Any] = {}
    for word in words:
        node = top
        for character in word:
            node = node.setdefault(character, {})
        node[""] = {}

    def written(node: Mapping[str, Any]) -> str:
        rest = [re.escape(first) + written(below) for first, below in sorted(node.items()) if first]
        if not rest:
            return ""
        either = f"(?:{'|'.join(rest)})"
        return f"{either}?" if "" in node else either

    return written(top)


@cache
def _domains() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Returns what a text with addresses begins with, and an address."""
    table = files("corpus_assets.attributes") / "data" / "top_level_domains.txt"
    lines = table.read_text(encoding="utf-8").splitlines()
    known = _trie(word for line in lines if line[:1] != "#" for word in line.split())
    address = rf"\s{{0,10}}(?:((https?|ftp)://))?[-a-zA-Z0-9@:%._\+~#=]{{1,256}}\.({known})\b({_ADDRESS})"
    return re.compile(known, re.IGNORECASE), re.compile(address)


def page_of(string: str) -> Part:
    """Returns a text without addresses and with at most two newlines in a row.

    As in DCLM, web addresses are removed only from a text that begins with the letters of a top-level domain.
    """
    part = Part(string, ((0, len(string)),) if string else ())
    begins, address = _domains()
    if begins.match(string):
        part = part.without(address)
    return part.without(_MACHINE).without(_MANY_NEWLINES)


def left_of(page: Part) -> Part | None:
    """Returns what is left of a page when lines and phrases are removed; None if nothing is."""
    lines = _lines(page)
    for step in _STEPS:
        lines = step(lines)
        if not any(line.string or line.end.string for line in lines):
            return None
    parts = [part for line in lines for part in line]
    return Part("".join(part.string for part in parts), tuple(place for part in parts for place in part.places))


def _lines(page: Part) -> list[Line]:
    found, start = [], 0
    for string in page.string.split("\n"):
        end = start + len(string)
        found.append(Line(page.cut(start, end), page.cut(end, end + 1)))
        start = end + 1
    return found


def _chosen(lines: Iterable[Line]) -> list[Line]:
    """Returns lines of which the last has no newline."""
    found = list(lines)
    return [*found[:-1], Line(found[-1].part, found[-1].end.cut(0, 0))] if found else []


def _stripped(lines: Iterable[Line]) -> list[Line]:
    """Returns lines without whitespace before the first and behind the last of them."""
    found = list(lines)
    while found and not found[0].string.strip():
        del found[0]
    while found and not found[-1].string.strip():
        del found[-1]
    if found:
        size = len(found[0].string)
        found[0] = Line(found[0].part.cut(size - len(found[0].string.lstrip()), size), found[0].end)
        found[-1] = Line(found[-1].part.cut(0, len(found[-1].string.rstrip())), found[-1].end)
    return _chosen(found)


def _few(lines: Lines, is_one: Callable[[str], bool], most: float) -> list[Line]:
    """Returns lines with at most a share of characters of a kind."""
    return _stripped(
        line for line in lines if not line.string or sum(map(is_one, line.string)) / len(line.string) <= most
    )


def _without_counters(lines: Lines) -> list[Line]:
    return _stripped(line for line in lines if not _COUNTER.search(line.string.lower()))


def _of_words(lines: Lines) -> list[Line]:
    return _chosen(line for line in lines if not line.string or len(line.string.split()) >= 2)


def _without_phrase(lines: Lines, phrase: re.Pattern[str]) -> list[Line]:
    return _stripped(_phrased(lines, phrase))


def _phrased(lines: Lines, phrase: re.Pattern[str]) -> Iterator[Line]:
    for line in lines:
        if len(line.string.split()) > _LONGEST:
            yield line
            continue
        left = line.part.without(phrase)
        if not line.string or left.string.strip():
            yield Line(left, line.end)


_STEPS: Sequence[Callable[[Lines], list[Line]]] = (
    partial(_few, is_one=str.isupper, most=0.5),
    partial(_few, is_one=str.isdigit, most=0.999999),
    _without_counters,
    _of_words,
    *(partial(_without_phrase, phrase=phrase) for phrase in _PHRASES),
)
