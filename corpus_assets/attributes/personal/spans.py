"""Spans of different kinds that do not overlap."""

from collections.abc import Iterable, Iterator, Sequence

Found = tuple[int, int]
"""Beginning and end of a match."""


def apart(spans: Iterable[Found], taken: Sequence[Found]) -> Iterator[Found]:
    """Yields the spans that overlap no taken one. Both are in the order of the text."""
    at = 0
    for start, end in spans:
        while at < len(taken) and taken[at][1] <= start:
            at += 1
        if at == len(taken) or taken[at][0] >= end:
            yield start, end
