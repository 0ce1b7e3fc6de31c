"""Repeated substrings as they are defined: every window of so many units, compared with every earlier one."""

from collections.abc import Hashable, Sequence

Span = tuple[int, int]


def repeated(
    texts: Sequence[Sequence[Hashable]], length: int, keep: str = "first", more_than: int = 0
) -> list[list[Span]]:
    """The spans of units, text by text: unions of windows that also stand elsewhere, where they do not overlap.

    keep: `first` for windows that stand earlier; `none` for all. more_than: documents that must have the window.
    """
    places: dict[Hashable, list[tuple[int, int]]] = {}
    for number, text in enumerate(texts):
        for start in range(len(text) - length + 1):
            places.setdefault(tuple(text[start : start + length]), []).append((number, start))
    covered: list[set[int]] = [set() for _ in texts]
    for found in places.values():
        for number, start in found:
            apart = [one for one in found if one[0] != number or abs(one[1] - start) >= length]
            counts = (
                len({one for one, _ in found}) > more_than
                if more_than
                else any(keep == "none" or one < (number, start) for one in apart)
            )
            if counts:
                covered[number].update(range(start, start + length))
    return [_spans(places) for places in covered]


def _spans(places: set[int]) -> list[Span]:
    starts = sorted(place for place in places if place - 1 not in places)
    ends = sorted(place + 1 for place in places if place + 1 not in places)
    return list(zip(starts, ends, strict=True))


def in_code_points(text: str, spans: Sequence[Span]) -> list[Span]:
    """Spans of bytes as those of the code points that lie wholly in them."""
    edges = [0]
    for character in text:
        edges.append(edges[-1] + len(character.encode()))
    found = []
    for start, end in spans:
        inside = [n for n in range(len(text)) if start <= edges[n] and edges[n + 1] <= end]
        found += [(inside[0], inside[-1] + 1)] if inside else []
    return found
