"""DCLM-Baseline's measures of English web pages, and the pieces that it removes from them.

Sources: Li et al. 2024 (DataComp-LM); github.com/mlfoundations/dclm, baselines_configs/dclm_baseline_refinedweb.yaml,
mappers/filters/content_filters.py.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import character_flags, code_points
from corpus_assets.attributes.taggers.gopher import REQUIRED
from corpus_assets.attributes.taggers.presets.dclm.pieces import Part, left_of, page_of
from corpus_assets.attributes.taggers.presets.measures import exactly
from corpus_assets.attributes.taggers.uniseg import word_break_classes
from resources.documents.tagger import Spans, Tagger, Text
from resources.formats.attributes import Span

Scores = Mapping[str, float]
_FASTTEXT_WORD = re.compile("[^ \n\r\t\v\f\0]+")
_SYMBOLS, _BULLETS, _ELLIPSES = ("#", "...", ". . .", "…"), ("●", "•", "*", "-"), ("...", ". . .", "…")
_TOP = range(2, 5)
_GRAMS = {n: f"characters_in_{'top' if n in _TOP else 'repeated'}_{n}grams" for n in range(2, 11)}
TYPES = (
    *("words", "word_length", "symbols_per_word", "bullet_lines", "ellipsis_lines", "words_without_letter"),
    *("stop_words", "repeated_lines", "repeated_paragraphs", "characters_in_repeated_lines"),
    *("characters_in_repeated_paragraphs", *_GRAMS.values(), "characters_left", "removed_words", "removed"),
)


def dclm_page(text: Text) -> Spans:
    """Returns the measures of a page, and the pieces that are removed from it."""
    page = text.once(_page)
    left = text.once(_left)
    before = _words(page.string)
    after = _words(left.string) if left else 0
    scores = {
        "words": before,
        **_of_words(page.string),
        **_of_lines(page.string),
        **_repeated(page.string),
        **_of_grams(_segments(page.string)),
        "characters_left": len(left.string) if left else 0,
        "removed_words": (before - after) / max(before, 1),
    }
    return {**exactly(text, scores), "removed": _removed(left, len(text.string)) if left else []}


def left_by_dclm(text: Text) -> Text:
    """Returns the text that `dclm` leaves."""
    left = text.once(_left)
    return text.changed(left.string if left else "")


def _page(text: Text) -> Part:
    return page_of(text.string)


def _left(text: Text) -> Part | None:
    return left_of(text.once(_page))


def _words(string: str) -> int:
    """Returns the words of fastText that begin with a letter or digit."""
    return sum(word[0].isalnum() for word in _FASTTEXT_WORD.findall(string))


def _of_words(string: str) -> Scores:
    words = string.split()
    many = max(len(words), 1)
    return {
        "word_length": sum(map(len, words)) / many,
        "symbols_per_word": sum(map(string.count, _SYMBOLS)) / many,
        "words_without_letter": sum(not any(map(str.isalpha, word)) for word in words) / many,
        "stop_words": sum(word.lower() in REQUIRED for word in words),
    }


def _of_lines(string: str) -> Scores:
    lines = [line for found in string.split("\n") if (line := found.strip())]
    many = max(len(lines), 1)
    return {
        "bullet_lines": sum(line.startswith(_BULLETS) for line in lines) / many,
        "ellipsis_lines": sum(line.endswith(_ELLIPSES) for line in lines) / many,
    }


def _repeated(string: str) -> Scores:
    """Returns the shares of lines and paragraphs that occur more than once; none of a single one."""
    found: dict[str, float] = {}
    for what, between in (("lines", "\n"), ("paragraphs", "\n\n")):
        counts = Counter(part for whole in string.split(between) if (part := whole.strip()))
        many, characters = counts.total(), sum(len(part) * count for part, count in counts.items())
        if many > 1:
            often = {part: count for part, count in counts.items() if count > 1}
            found[f"repeated_{what}"] = sum(often.values()) / many
            found[f"characters_in_repeated_{what}"] = (
                sum(len(part) * count for part, count in often.items()) / characters
            )
    return found


def _segments(string: str) -> list[str]:
    """Returns the words of UAX #29 that begin with a letter or digit."""
    from corpus_assets.attributes.kernels.word_breaks.boundaries import find_words

    ends = np.array([len(string)], dtype=np.int64)
    codes, classes = code_points(string), word_break_classes()
    firsts, lasts, _ = find_words(codes, character_flags(), classes, np.zeros(1, dtype=np.int64), ends)
    pairs = zip(firsts.tolist(), lasts.tolist(), strict=True)
    return [string[first:last] for first, last in pairs if string[first].isalnum()]


def _of_grams(words: Sequence[str]) -> Scores:
    """Returns shares of characters: of the n-gram that occurs most for n up to 4, in all that are repeated above."""
    if not words:
        return {}
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    sums, total = np.concatenate([[0], np.cumsum(lengths)]), lengths.sum()
    found = {}
    for n, counts, of_each in _numbered(words):
        if n in _TOP:
            sizes = sums[n:] - sums[:-n]
            most = counts.max()
            found[_GRAMS[n]] = float(sizes[counts[of_each] == most].max() * most / total)
        else:
            covers = np.zeros(len(words) + 1, dtype=np.int64)
            repeated = np.flatnonzero(counts[of_each] > 1)
            np.add.at(covers, repeated, 1)
            np.add.at(covers, repeated + n, -1)
            found[_GRAMS[n]] = float(lengths[np.cumsum(covers[:-1]) > 0].sum() / total)
    return found


def _numbered(words: Sequence[str]) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Yields n, how often each different n-gram occurs, and which one begins at each word; until none is repeated."""
    known: dict[str, int] = {}
    single = np.fromiter((known.setdefault(word, len(known)) for word in words), dtype=np.int64, count=len(words))
    grams = single
    for n in _GRAMS:
        if len(words) < n:
            return
        pairs = grams[:-1] * len(known) + single[n - 1 :]
        _, grams, counts = np.unique(pairs, return_inverse=True, return_counts=True)
        if counts.max() == 1:
            return
        yield n, counts, grams


def _removed(left: Part, size: int) -> list[Span]:
    found: list[Span] = []
    done = 0
    for start, end in (*left.places, (size, size)):
        if done < start:
            found.append((done, start, 1.0))
        done = end
    return found


TAGGERS = [
    Tagger(
        "dclm_page",
        dclm_page,
        version="1",
        types=TYPES,
        gives="`words`: those that begin with a letter or digit; `word_length`: their mean length, `stop_words`: how "
        "often Gopher's eight occur; `characters_left`, `removed_words`: code points and share of words after the "
        "removal of lines of capitals, digits, counters or one word, addresses, and phrases of pages; `removed`: 1 for "
        "each piece to remove; other types: shares, those of what is repeated with all its copies",
        source="Li et al. 2024 (DCLM), as `dclm_baseline_refinedweb.yaml` of mlfoundations/dclm",
    )
]
