"""The plain definitions: what a word is, and which items a text holds."""

import re
from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import category, normalize

from corpus_assets.contamination.folding import WITHOUT_SPACES


class Word(NamedTuple):
    """Letters, and where the characters begin and end that they come of."""

    letters: str
    start: int
    end: int


def folded(character: str) -> str:
    """What a character stands for (Unicode Standard, D146), if it is a letter, mark or number."""
    if category(character)[0] not in "LMN":
        return character
    return normalize("NFKD", normalize("NFKD", normalize("NFD", character).casefold()).casefold())


def kind(character: str, punctuation: str) -> str:
    if character.isspace() or (category(character)[0] in "PS" and punctuation == "separates"):
        return "break"
    if category(character)[0] not in "LMN":
        return "ignored"
    if category(character)[0] == "M":
        return "mark"
    return "alone" if any(first <= ord(character) <= last for first, last in WITHOUT_SPACES) else "letter"


def words(text: str, punctuation: str = "removed", numbers: str = "compared") -> list[Word]:
    """The words of a text; with `equal` numbers each run of digits in a word is a 0."""
    found = _words(text, punctuation)
    if numbers == "equal":
        return [word._replace(letters=re.sub(r"\d+", "0", word.letters)) for word in found]
    return found


def _words(text: str, punctuation: str) -> list[Word]:
    found: list[Word] = []
    is_open = False
    first = ""
    for index, character in enumerate(text):
        for letter in folded(character):
            what = kind(letter, punctuation)
            if what == "ignored":
                continue
            if what in ("break", "alone") or (first == "alone" and what == "letter"):
                is_open = False
            if what == "break":
                continue
            if is_open:
                found[-1] = Word(found[-1].letters + letter, found[-1].start, index + 1)
            else:
                found.append(Word(letter, index, index + 1))
                is_open, first = True, what
    return found


def held(text: str, items: Sequence[str], n: int, shortest: int) -> list[tuple[int, float, list[tuple[int, int]]]]:
    """Items of which a text holds n-grams (or the whole, if they are very short): number, share, spans."""
    document = words(text)
    letters = [word.letters for word in document]
    found = []
    for number, item in enumerate(items):
        ours = [word.letters for word in words(item)]
        size = len(ours) if len(ours) < shortest else shortest if len(ours) < 2 * n else n
        covered: set[int] = set()
        spans: set[int] = set()
        for place in range(len(ours) - size + 1 if size >= 3 else 0):
            for start in range(len(letters) - size + 1):
                if letters[start : start + size] == ours[place : place + size]:
                    covered |= set(range(place, place + size))
                    spans |= set(range(document[start].start, document[start + size - 1].end))
        if covered:
            found.append((number, round(len(covered) / len(ours), 5), runs(sorted(spans))))
    return found


def runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Intervals of numbers that follow each other."""
    found: list[tuple[int, int]] = []
    for place in places:
        if found and found[-1][1] == place:
            found[-1] = (found[-1][0], place + 1)
        else:
            found.append((place, place + 1))
    return found
