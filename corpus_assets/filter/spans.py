"""Replaces pieces of a text: overlapping pieces are united first, so that no code point is taken twice or left over."""

from collections.abc import Iterable, Sequence

from resources.documents.row_rule import Replacement

_ORIGINAL = "{}"


def replaced(text: str, spans: Iterable[Replacement]) -> str:
    """Returns a text with pieces replaced.

    A piece that ends after the text ends with it; one that starts after it is ignored. Pieces that overlap become one.
    Its replacement is that of the first piece; of several that start together, of the longest; of several equally long,
    of the first given. A piece without code points inserts its text, unless it lies inside another or at its beginning.
    Pieces that only touch are replaced separately.
    """
    parts, done = [], 0
    for start, end, new in united(spans, len(text)):
        parts.append(text[done:start])
        parts.append(new.replace(_ORIGINAL, text[start:end]))
        done = end
    return "".join([*parts, text[done:]])


def united(spans: Iterable[Replacement], length: int) -> Sequence[Replacement]:
    """Returns pieces that do not overlap, in the order of the text. length: code points of the text."""
    within = (Replacement(start, min(end, length), new) for start, end, new in spans if start <= length)
    found: list[Replacement] = []
    for piece in sorted(within, key=lambda piece: (piece.start, -piece.end)):
        last = found[-1] if found else None
        if last and (piece.start < last.end or piece.start == last.start):
            found[-1] = last._replace(end=max(last.end, piece.end))
        else:
            found.append(piece)
    return found


def replaced_as_dolma(text: str, spans: Iterable[Replacement]) -> str:
    """Returns a text with pieces replaced as the mixer of Dolma 1.2.1 does it (docs/formats/dolma.md "Mixer").

    A piece cancels every later one that starts before its end; the tail of the later one stays in the text. A piece
    that reaches the end of the text is the last. The replacement of a piece that starts after the text is appended,
    with `{}` as everything from the piece before it on. A piece without code points inserts its text, unless a piece
    ends there, and removes the code point after it; later pieces are not replaced, and its text is appended once more,
    with `{}` as everything after it.
    """
    parts: list[str] = []
    done, before = 0, None
    for start, end, new in sorted(spans, key=lambda piece: piece.start):
        if start < done:
            continue
        parts.append(text[done:start])
        if start >= len(text):
            return "".join([*parts, new.replace(_ORIGINAL, text[before or 0 :])])
        if start == end:
            inserted = new.replace(_ORIGINAL, "") if before is None or done < start else ""
            return "".join([*parts, inserted, text[start + 1 :], new.replace(_ORIGINAL, text[start:])])
        parts.append(new.replace(_ORIGINAL, text[start:end]))
        if end >= len(text):
            return "".join(parts)
        done, before = end, start
    return "".join([*parts, text[done:]])
