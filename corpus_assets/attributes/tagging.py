"""Taggers run together over a document: one row of attributes."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from resources.documents.tagger import Spans, Tag, Text
from resources.formats.attributes import Counts, Span
from resources.formats.documents import Document

DIGITS = 5
"""Digits after the point of a score."""


class TaggerError(Exception):
    """A tagger failed at a document, or gave an invalid score."""


@dataclass(frozen=True)
class Named:
    """A function and the first part of its attribute keys, `<entry>__<tagger>__`.

    unread_lines: number of lines of its lists that were not understood.
    """

    name: str
    prefix: str
    tag: Tag
    unread_lines: int = 0


@lru_cache(maxsize=4096)
def key_part(name: str) -> str:
    """Returns a name in the form of attribute keys: characters other than letters, digits and `_` become `_`."""
    part = re.sub("[^A-Za-z0-9_]", "_", name)
    if not part or part[0].isdigit():
        raise TaggerError(f"type {name!r} cannot be part of an attribute key; valid: a name that starts with a letter")
    return part


def attributes_of(document: Document, taggers: Sequence[Named], label: str | None = None) -> dict[str, Sequence[Span]]:
    """Returns the spans of all taggers by attribute key; `TaggerError` names the one that failed.

    label: that another tagger gave the document, if any.
    """
    text = Text(document, label)
    found: dict[str, Sequence[Span]] = {}
    for tagger in taggers:
        try:
            found |= keyed(tagger.prefix, tagger.tag(text))
        except Exception as error:
            words = str(error) if isinstance(error, TaggerError) else f"{type(error).__name__}: {error}"
            raise TaggerError(f"{tagger.name}: {words}") from error
    return found


def keyed(prefix: str, spans: Spans, digits: int = DIGITS) -> dict[str, Sequence[Span]]:
    """Returns spans by attribute key, with rounded scores; `TaggerError` for a score that is no finite number."""
    return {_key(prefix, kind): _all_rounded(found, digits) for kind, found in spans.items() if found}


def _all_rounded(spans: Sequence[Span], digits: int) -> Sequence[Span]:
    if type(spans) is Counts:
        return spans
    if len(spans) == 1:
        ((start, end, score),) = spans
        return [(start, end, _rounded(score, start, end, digits))]
    return [(start, end, _rounded(score, start, end, digits)) for start, end, score in spans]


@lru_cache(maxsize=4096)
def _key(prefix: str, kind: str) -> str:
    return prefix + key_part(kind)


def _rounded(score: float, start: int, end: int, digits: int) -> float:
    score = float(score)
    if score.is_integer():  # Most scores are counts.
        return score
    if not math.isfinite(score):
        raise TaggerError(f"score {score} of {start} to {end}; valid: a finite number")
    return round(score, digits)
