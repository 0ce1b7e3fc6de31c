"""Deduplication as it is defined: a set of everything seen so far, document by document."""

from collections.abc import Hashable, Iterable, Iterator

import numpy as np

from corpus_assets.attributes.characters import character_flags, code_points
from corpus_assets.attributes.taggers.uniseg import word_break_classes
from corpus_assets.config.selection.dedupers import Deduper

Span = tuple[int, int, float]
Piece = tuple[int, int, list[Hashable]]


def words(text: str) -> list[str]:
    """The words of a text; whitespace only is none."""
    from corpus_assets.attributes.kernels.word_breaks.boundaries import find_words

    bounds = (np.array([0]), np.array([len(text)]))
    starts, ends, _ = find_words(code_points(text), character_flags(), word_break_classes(), *bounds)
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def pieces(text: str, rule: Deduper) -> Iterator[Piece]:
    """Span and keys of everything in a text that is compared."""
    separator = rule.separator if rule.by in ("paragraphs", "ngrams") else None
    parts = [text] if separator is None else text.split(separator) if text else []
    start = 0
    for part in parts:
        end = min(len(text), start + len(part) + len(separator or ""))
        span = (start, end)
        start = end
        if len(part) < rule.min_length or (rule.skip_empty and not part.strip()):
            continue
        if rule.min_words and len(words(part)) < rule.min_words:
            continue
        if keys := list(_keys(part, rule)):
            yield *span, keys


def _keys(part: str, rule: Deduper) -> Iterator[Hashable]:
    if rule.by != "ngrams":
        yield part
        return
    length, found = rule.ngram.length, words(part)
    grams = [tuple(found[place : place + length]) for place in range(len(found) - length + 1)]
    yield from grams[:: rule.ngram.stride]
    if not grams and not rule.ngram.skip_short:
        yield part


def spans(texts: Iterable[str], rule: Deduper) -> Iterator[list[Span]]:
    """The marked spans of each text, in corpus order."""
    seen: set[Hashable] = set()
    least = rule.ngram.threshold if rule.by == "ngrams" else 1
    for text in texts:
        found = []
        for start, end, keys in pieces(text, rule):
            hits = 0
            for key in keys:
                hits += key in seen
                seen.add(key)
            if hits / len(keys) >= least:
                found.append((start, end, round(hits / len(keys), 5)))
        yield found
