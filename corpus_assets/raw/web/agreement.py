"""The main text of a page as several extractors agree on it: the rules of `extractor: combined`.

An extractor that keeps too much keeps other blocks than another one does, so a line that nobody else has is mostly
boilerplate. And one that loses an article mostly loses it alone. The numbers were chosen on half of the pages of the
benchmark of docs/web-text.md; all between half and twice of them give nearly the same.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from typing import Final

CONFIRMED: Final = 0.5
"""Share of the three-word sequences of a line that another text must have to confirm it."""
MORE: Final = 0.2
"""Share of what most extractors have that a text must hold more than the first one to be taken for it."""
LINKED: Final = 0.8
"""Share of the words of a line that are the text of one link, in a line that leads elsewhere."""

_ALONE: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Characters of scripts without spaces between words: each is a word here."""
_WORD: Final = re.compile(rf"[{_ALONE}]|[^\W{_ALONE}]+")
_LINK: Final = re.compile(r"<a\b", re.I)
_LINK_END: Final = re.compile(r"</a\b", re.I)
_TAG: Final = re.compile(r"<[^<>]*>")
SEQUENCE, _LONGER = 3, 4
_LONGEST_LINK: Final = 64
"""Words of the longest line that may be a link; longer ones are text, and would take too long."""

Words = tuple[str, ...]


def words(text: str) -> Words:
    """Returns the words of a text in small letters."""
    return tuple(_WORD.findall(text.lower()))


def agreed_text(html: str, text: str, other: str, confirming: Sequence[str]) -> str:
    """Returns the lines of a text that one of the confirming texts has, without those that are links to elsewhere.

    text: of the extractor with the best lines. other: of one that seldom loses an article; its lines are taken if they
    have much more of what two of three texts hold. The first text as it is, if nothing is confirmed.
    """
    readers = [Confirming(one) for one in confirming]
    chosen = _confirmed(text, readers)
    instead = _confirmed(other, readers)
    common = _in_most([text, other, confirming[-1]])
    if common and _held(instead, common) > _held(chosen, common) + MORE:
        chosen = instead
    links = _links(html)
    kept = [line for line in chosen if not leads_elsewhere(line, links)]
    return "\n".join(kept or chosen) or text or other


class Confirming:
    """A text by its three-word sequences and its lines."""

    def __init__(self, text: str) -> None:
        self._sequences = set(sequences(words(text), SEQUENCE))
        self._lines = {words(line) for line in text.splitlines()}

    def has(self, line: Words) -> bool:
        """Returns whether the text holds a line, or at least half of a longer one."""
        if len(line) < SEQUENCE:
            return line in self._lines
        found = [sequence in self._sequences for sequence in sequences(line, SEQUENCE)]
        return sum(found) >= CONFIRMED * len(found)


def _confirmed(text: str, readers: Iterable[Confirming]) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    return [line for line in lines if any(reader.has(words(line)) for reader in readers)]


def sequences(found: Words, size: int) -> Iterator[Words]:
    """Yields every sequence of so many words in a row."""
    return zip(*(found[start:] for start in range(size)), strict=False)


def _in_most(texts: Sequence[str]) -> set[Words]:
    """Returns the sequences of words that two of the texts have."""
    counts = Counter(sequence for text in texts for sequence in set(sequences(words(text), _LONGER)))
    return {sequence for sequence, count in counts.items() if count > 1}


def _held(lines: Sequence[str], common: set[Words]) -> float:
    return len(common.intersection(sequences(words("\n".join(lines)), _LONGER))) / len(common)


def _links(html: str) -> set[Words]:
    """Returns the texts of the links of a page."""
    inside = (_LINK_END.split(part, 1)[0].partition(">")[2] for part in _LINK.split(html)[1:])
    found = (words(unescape(_TAG.sub("", text))) for text in inside)
    return {text for text in found if 0 < len(text) <= _LONGEST_LINK}


def leads_elsewhere(line: str, links: set[Words]) -> bool:
    """Returns whether a line begins or ends with a link that has most of its words, as `Read more: ...` does.

    A web address that is written out is content.
    """
    found = words(line)
    if not found or len(found) > _LONGEST_LINK:
        return False
    last = line.rsplit(maxsplit=1)[-1]
    if "://" in last or "www." in last:
        return False
    rest = range(int(len(found) * (1 - LINKED)) + 1)
    return any(found[skipped:] in links or found[: len(found) - skipped] in links for skipped in rest)
