"""The units in which substrings are compared: bytes of UTF-8, or tokens; and their places in code points."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import character_flags, code_points
from corpus_assets.attributes.taggers.uniseg import word_break_classes
from resources.formats.texts import Texts

_BELOW = np.uint64((1 << 61) - 2)
Places = NDArray[np.int64]


class Units(NamedTuple):
    """Units of texts one after another: bytes, or hashes of tokens (n,). bounds: where each begins (texts + 1,)."""

    units: NDArray[np.uint8] | NDArray[np.uint64]
    bounds: Places


def units_of(texts: Texts, unit: str) -> Units:
    """Returns the units of texts. unit: `bytes` or `tokens`."""
    if unit == "bytes":
        return Units(texts.characters[texts.bounds[0] : texts.bounds[-1]], texts.bounds - texts.bounds[0])
    strings = [texts.of(number).decode("utf-8", "surrogatepass") for number in range(len(texts.bounds) - 1)]
    found = [_token_hashes(string) for string in strings]
    bounds = np.cumsum([0, *map(len, found)])
    return Units(np.concatenate([np.empty(0, dtype=np.uint64), *found]), bounds)


def tokens(string: str) -> Places:
    """Returns where the tokens of a text end, in code points: words by UAX #29, each with the whitespace before it."""
    return _words(string)[1]


def _words(string: str) -> tuple[Places, Places]:
    """Returns where words begin and end, in code points; whitespace is none."""
    from corpus_assets.attributes.kernels.word_breaks.boundaries import find_words

    bounds = np.zeros(1, dtype=np.int64), np.array([len(string)], dtype=np.int64)
    starts, ends, _ = find_words(code_points(string), character_flags(), word_break_classes(), *bounds)
    return starts, ends


def _token_hashes(string: str) -> NDArray[np.uint64]:
    from corpus_assets.attributes.dedupers.kernels.hashing import hash_parts

    ends = tokens(string)
    hashes: NDArray[np.uint64] = hash_parts(code_points(string), np.concatenate([[0], ends[:-1]])[: len(ends)], ends)
    return hashes[:, 0] % _BELOW


def in_code_points(text: bytes, spans: Places, unit: str, *, whole_words: bool) -> Places:
    """Returns spans of units (n, 2) as spans of code points (m, 2), each shrunk to whole code points, or words.

    Spans of which nothing is left are missing.
    """
    if unit == "tokens":
        edges = np.concatenate([[0], tokens(text.decode("utf-8", "surrogatepass"))])
        return edges[spans]
    found = spans if text.isascii() else _whole_letters(text, spans)
    if whole_words:
        found = _shrunk(found, *_words(text.decode("utf-8", "surrogatepass")))
    return found[found[:, 0] < found[:, 1]]


def _whole_letters(text: bytes, spans: Places) -> Places:
    """Returns spans of bytes (n, 2), which ascend and do not touch, as spans of the code points that lie in them."""
    if not len(spans):
        return spans
    # One more, which begins no letter, so that a span may end with the text.
    leads = np.append((np.frombuffer(text, dtype=np.uint8) & 0xC0) != 0x80, False)
    edges = spans.reshape(-1)
    counts = np.add.reduceat(leads, np.append(0, edges), dtype=np.int64)[:-1]
    counts[0] *= edges[0] > 0
    before = np.cumsum(counts).reshape(-1, 2)
    before[:, 1] -= (spans[:, 1] < len(text)) & ~leads[spans[:, 1]]
    return before


def _shrunk(spans: Places, starts: Places, ends: Places) -> Places:
    """Returns spans without the words at their borders of which they have only a part."""
    if not len(starts):
        return spans
    of_start = np.searchsorted(starts, spans[:, 0], side="left") - 1
    of_end = np.searchsorted(starts, spans[:, 1], side="left") - 1
    cut = (of_start >= 0) & (spans[:, 0] < ends[of_start])
    first = np.where(cut, ends[of_start], spans[:, 0])
    cut = (of_end >= 0) & (spans[:, 1] < ends[of_end])
    last = np.where(cut, starts[of_end], spans[:, 1])
    return np.stack([first, last], axis=1)
