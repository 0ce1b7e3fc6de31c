"""C4's rules on lines as datatrove has them (Raffel et al. 2020, section 2.2; datatrove's `C4QualityFilter`)."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from corpus_assets.attributes.splitters.spacy_rules import spacy_rules
from corpus_assets.attributes.taggers.presets.measures import SPACY, exactly
from resources.documents.tagger import Spans, Tagger, Text
from resources.formats.attributes import Span

_CITATION = re.compile(r"\[\d*]|\[edit]|\[citation needed]")
_ENDINGS, _ELLIPSIS = (".", "?", "!", '"', "'"), "..."
_POLICIES = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies")
_LONGEST_WORD, _FEWEST_WORDS = 1000, 3
LOREM_IPSUM, CURLY_BRACKET, SENTENCES, REMOVED, LINE_END = (
    *("lorem_ipsum", "curly_bracket", "sentences"),
    *("removed", "line_end"),
)


class _Left(NamedTuple):
    """What the rules leave. pieces: of the text, in its order; a line end that is no newline is an empty one.

    refused: the type of what drops the document, if anything does; then the rest is empty.
    """

    refused: str | None
    sentences: int
    pieces: list[tuple[int, int]]
    string: str


def _left(text: Text) -> _Left:
    return _judged(text.string, any_ending=False)


def _left_with_any_ending(text: Text) -> _Left:
    return _judged(text.string, any_ending=True)


def left_by_c4(text: Text) -> Text:
    """Returns the text that `c4` leaves."""
    return text.changed(text.once(_left).string)


def left_by_c4_any_ending(text: Text) -> Text:
    """Returns the text that `c4_any_ending` leaves."""
    return text.changed(text.once(_left_with_any_ending).string)


def c4_lines(text: Text) -> Spans:
    """Returns what drops a document, or its sentences and the pieces to remove."""
    return _spans(text, text.once(_left))


def c4_lines_any_ending(text: Text) -> Spans:
    """Returns the same with lines of any ending."""
    return _spans(text, text.once(_left_with_any_ending))


def _spans(text: Text, left: _Left) -> Spans:
    if left.refused:
        return {left.refused: text.whole(1.0)}
    removed: list[Span] = []
    ends: list[Span] = []
    done = 0
    for start, end in [*left.pieces, (len(text.string), len(text.string) + 1)]:
        if done < start:
            removed.append((done, start, 1.0))
        if start == end:
            ends.append((start, start + 1, 1.0))
        done = max(end, start + 1) if start == end else end
    return {**exactly(text, {SENTENCES: left.sentences}), REMOVED: removed, LINE_END: ends}


def _judged(string: str, *, any_ending: bool) -> _Left:
    pieces: list[tuple[int, int]] = []
    parts: list[str] = []
    sentences, start, line_end = 0, 0, None
    for raw in string.splitlines(keepends=True):
        line = raw.strip()
        kept = _kept(line, any_ending=any_ending)
        if isinstance(kept, str):
            return _Left(kept, 0, [], "")
        if kept is not None:
            if line_end is not None:
                pieces.append(line_end)
                parts.append("\n")
            first, cut = start + raw.find(line), [line[begin:end] for begin, end in kept]
            pieces += [(first + begin, first + end) for begin, end in kept]
            parts += cut
            sentences += spacy_rules("en").sentences("".join(cut))
            last = start + len(raw) - 1
            line_end = (last, last + 1) if raw.endswith("\n") else (last, last)
        start += len(raw)
    pieces, left = _stripped(pieces, parts)
    return _Left(None, sentences, pieces, left)


def _kept(line: str, *, any_ending: bool) -> list[tuple[int, int]] | str | None:
    """Returns the pieces of a line that stay; None if the line goes, the type that names it if the document does."""
    words = line.split()
    if len(line) > _LONGEST_WORD and any(len(word) > _LONGEST_WORD for word in words):
        return None
    pieces = [(0, len(line))]
    if "[" in line:
        pieces = list(_between(line))
        line = "".join(line[start:end] for start, end in pieces)
    if not any_ending and (not line.endswith(_ENDINGS) or line.endswith(_ELLIPSIS)):
        return None
    if len(words) < _FEWEST_WORDS:
        return None
    lower = line.lower()
    if "lorem ipsum" in lower:
        return LOREM_IPSUM
    if "javascript" in lower:
        return None
    if "{" in line:
        return CURLY_BRACKET
    return None if any(policy in lower for policy in _POLICIES) else pieces


def _between(line: str) -> Iterator[tuple[int, int]]:
    """Yields the pieces of a line between citations."""
    done = 0
    for match in _CITATION.finditer(line):
        if done < match.start():
            yield done, match.start()
        done = match.end()
    if done < len(line):
        yield done, len(line)


def _stripped(pieces: list[tuple[int, int]], parts: list[str]) -> tuple[list[tuple[int, int]], str]:
    """Returns pieces, and the text that they make, without whitespace at both ends of that text."""
    whole = "".join(parts)
    before = len(whole) - len(whole.lstrip())
    end = max(before, len(whole.rstrip()))
    found, place = [], 0
    for (start, stop), part in zip(pieces, parts, strict=True):
        first, last = max(before - place, 0), min(end - place, len(part))
        if first < last:
            found.append((start, stop) if start == stop else (start + first, start + last))
        place += len(part)
    return found, whole[before:end]


_TYPES = (LOREM_IPSUM, CURLY_BRACKET, SENTENCES, REMOVED, LINE_END)
_GIVES = (
    "`lorem_ipsum`, `curly_bracket`: 1 if a line that would stay has it; otherwise `sentences`: those of the lines "
    "that stay, `removed`: 1 for each piece between what stays of lines with {ending}3 words or more and none of over "
    "1,000 code points, without JavaScript, policies and citations; `line_end`: 1 for each of their ends that is no "
    "newline"
)
_SOURCE = "Raffel et al. 2020 (C4), as `C4QualityFilter` of datatrove 0.10"
TAGGERS = [
    Tagger(
        "c4_lines",
        c4_lines,
        version="1",
        types=_TYPES,
        gives=_GIVES.format(ending="a final `.?!\"'` and "),
        source=_SOURCE,
        **SPACY,
    ),
    Tagger(
        "c4_lines_any_ending",
        c4_lines_any_ending,
        version="1",
        types=_TYPES,
        gives=_GIVES.format(ending=""),
        source=_SOURCE,
        **SPACY,
    ),
]
