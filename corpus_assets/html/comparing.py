"""Two texts side by side: the words that only one of them has, however they are spaced; time grows with their length.

Words that occur once in both texts, in the same order in both, are taken for the same place (as in patience sorting);
between two such places the same is done again, for stretches that have become small enough to have such words.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

Pieces = list[tuple[str, bool]]
"""Pieces of a text in order, each with whether the other text has it too."""

_DEPTH = 6
_WORDS = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")
Span = tuple[int, int, int, int]


def compared(first: str, second: str) -> tuple[Pieces, Pieces]:
    """Returns both texts in pieces."""
    left, right = _WORDS.findall(first), _WORDS.findall(second)
    both = _in_common([word.strip() for word in left], [word.strip() for word in right])
    return _pieces(left, {a for a, _ in both}), _pieces(right, {b for _, b in both})


def _in_common(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Returns pairs of positions of equal words, rising in both."""
    found: list[tuple[int, int]] = []
    waiting: list[tuple[Span, int]] = [((0, len(left), 0, len(right)), 0)]
    while waiting:
        (a, a_end, b, b_end), depth = waiting.pop()
        while a < a_end and b < b_end and left[a] == right[b]:
            found.append((a, b))
            a, b = a + 1, b + 1
        while a < a_end and b < b_end and left[a_end - 1] == right[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
            found.append((a_end, b_end))
        if a == a_end or b == b_end or depth == _DEPTH:
            continue
        anchors = _anchors(left, right, (a, a_end, b, b_end))
        if anchors:
            starts = [(a, b), *anchors]
            ends = [*anchors, (a_end, b_end)]
            waiting += [((s, e, t, f), depth + 1) for (s, t), (e, f) in zip(starts, ends, strict=True)]
    return found


def _anchors(left: Sequence[str], right: Sequence[str], span: Span) -> list[tuple[int, int]]:
    """Returns places of words that occur once in both stretches: the longest run of them that rises in both."""
    a, a_end, b, b_end = span
    once = {word for word, count in Counter(right[b:b_end]).items() if count == 1}
    once &= {word for word, count in Counter(left[a:a_end]).items() if count == 1}
    places = {right[place]: place for place in range(b, b_end) if right[place] in once}
    return _rising([(place, places[left[place]]) for place in range(a, a_end) if left[place] in once])


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the longest subsequence of pairs, whose first numbers rise, in which the second numbers rise too."""
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(tops, place)
        before.append(ends[length - 1] if length else -1)
        tops[length : length + 1] = [place]
        ends[length : length + 1] = [number]
    found, number = [], ends[-1] if ends else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _pieces(words: Sequence[str], common: set[int]) -> Pieces:
    groups = groupby(range(len(words)), key=lambda number: number in common)
    return [("".join(words[number] for number in numbers), same) for same, numbers in groups]
