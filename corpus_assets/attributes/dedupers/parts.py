"""The parts of texts that are compared, their spans and their hashes (docs/dedupers.md).

With `compat: dolma` spans and n-grams are those of Dolma 1.2.1 (docs/formats/dolma.md "Deduper").
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import character_flags, code_points
from corpus_assets.attributes.dedupers.subjects import PARTS, Block
from corpus_assets.attributes.kernels.flags import SPACE, UNICODE_SPACE
from corpus_assets.attributes.taggers.uniseg import word_break_classes
from corpus_assets.config.selection.dedupers import Deduper

PART = np.dtype([("row", "<u4"), ("start", "<u4"), ("end", "<u4"), ("hashes", "<u4"), ("counted", "<u4")])
"""row: of its document in the shard; start, end: its span in code points of the text; hashes: their number; counted:
how many of the last ones determine its score.
"""

Places = NDArray[np.int64]
Codes = NDArray[np.uint32]
Hashes = NDArray[np.uint64]


class Found(NamedTuple):
    """Compared parts (n,) of type `PART`, their concatenated hashes (hashes, 2), and counts of left-out parts by
    reason.
    """

    parts: NDArray[np.void]
    hashes: Hashes
    left_out: dict[str, int]


class _Parts(NamedTuple):
    """Rows of the documents, bounds among the code points of all subjects, and spans in the documents' texts."""

    rows: Places
    starts: Places
    ends: Places
    span_starts: Places
    span_ends: Places

    def where(self, chosen: NDArray[np.bool_]) -> "_Parts":
        return _Parts(*(column[chosen] for column in self))


class _Words(NamedTuple):
    """Bounds of words, and how many each part has."""

    starts: Places
    ends: Places
    counts: Places


def parts_of(block: Block, rule: Deduper) -> Found:
    """Returns the parts of a block's subjects that a rule compares, in order, and their hashes."""
    codes = code_points("".join(block.subjects))
    lengths = np.fromiter(map(len, block.subjects), np.int64, len(block.subjects))
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    found = _paragraphs(codes, bounds, block, rule) if rule.by in PARTS else _subjects(bounds, block, rule)
    long = found.where(_long_enough(found, block, rule))
    full = long.where(~_blank(codes, long, rule)) if rule.skip_empty else long
    parts, words = _with_words(codes, full, rule)
    left_out = {
        "absent": block.absent,
        "short": len(found.rows) - len(long.rows),
        "empty": len(long.rows) - len(full.rows),
        "few_words": len(full.rows) - len(parts.rows),
    }
    if words is None or rule.by != "ngrams":
        ones = np.ones(len(parts.rows), dtype=np.int64)
        return Found(_table(parts, ones, ones), _hashes(codes, parts.starts, parts.ends), left_out)
    hashes, sizes, counted = _ngrams(codes, parts, words, rule)
    any_hash = sizes > 0
    table = _table(parts.where(any_hash), sizes[any_hash], counted[any_hash])
    return Found(table, hashes, {**left_out, "without_ngram": len(parts.rows) - len(table)})


def _with_words(codes: Codes, parts: _Parts, rule: Deduper) -> tuple[_Parts, _Words | None]:
    """Returns the parts that have enough words, and these words if they are needed."""
    if not rule.min_words and rule.by != "ngrams":
        return parts, None
    words = _words(codes, parts, rule)
    enough = words.counts >= rule.min_words
    inside = np.repeat(enough, words.counts)
    return parts.where(enough), _Words(words.starts[inside], words.ends[inside], words.counts[enough])


def _table(parts: _Parts, sizes: Places, counted: Places) -> NDArray[np.void]:
    table = np.empty(len(parts.rows), dtype=PART)
    columns = (parts.rows, parts.span_starts, parts.span_ends, sizes, counted)
    for name, column in zip(PART.names or (), columns, strict=True):
        table[name] = column
    return table


def _subjects(bounds: Places, block: Block, rule: Deduper) -> _Parts:
    """Returns each subject as one part; its span is the document's text."""
    ends = _encoded(block.subjects) if rule.compat else np.array(block.lengths, dtype=np.int64)
    return _Parts(np.array(block.rows, dtype=np.int64), bounds[:-1], bounds[1:], np.zeros(len(ends), np.int64), ends)


def _paragraphs(codes: Codes, bounds: Places, block: Block, rule: Deduper) -> _Parts:
    """Returns the paragraphs of all texts; a span includes the separator after its paragraph."""
    from corpus_assets.attributes.dedupers.kernels.paragraphs import split_texts

    starts, ends, counts = split_texts(codes, bounds, code_points(rule.separator))
    rows = np.repeat(np.array(block.rows, dtype=np.int64), counts)
    first, last = np.repeat(bounds[:-1], counts), np.repeat(bounds[1:], counts)
    if rule.compat:
        spans = _dolma_spans(ends - starts, counts, _encoded(block.subjects))
    else:
        spans = starts - first, np.minimum(ends + len(rule.separator), last) - first
    return _Parts(rows, starts, ends, *spans)


def _dolma_spans(lengths: Places, counts: Places, sizes: Places) -> tuple[Places, Places]:
    """Returns spans as Dolma counts them: a separator of any length is one code point.

    No separator is counted after a paragraph that ends at the last UTF-8 byte of its text (`sizes`), or one byte
    before. Dolma compares this with ends in code points, so only the last two paragraphs of a text can be affected.
    """
    ends = np.cumsum(lengths + 1)
    counts, sizes = counts[counts > 0], sizes[counts > 0]
    lasts = np.cumsum(counts) - 1
    before = np.concatenate([[0], ends[lasts[:-1]]])[: len(lasts)]
    ends -= np.repeat(before, counts)
    starts = ends - lengths - 1
    pairs = counts > 1
    early = lasts[pairs][ends[lasts[pairs] - 1] >= sizes[pairs]]
    ends[early - 1] -= 1
    starts[early] -= 1
    ends[early] -= 1
    ends[lasts[ends[lasts] >= sizes]] -= 1
    return starts, ends


def _encoded(subjects: Sequence[str]) -> Places:
    """Returns the UTF-8 bytes of each subject."""
    sizes = (len(subject.encode("utf-8", "surrogatepass")) for subject in subjects)
    return np.fromiter(sizes, np.int64, len(subjects))


def _long_enough(parts: _Parts, block: Block, rule: Deduper) -> NDArray[np.bool_]:
    """Returns which parts have the least length: code points; of whole subjects UTF-8 bytes with `compat: dolma`."""
    in_bytes = rule.compat and rule.by not in PARTS
    lengths = _encoded(block.subjects) if in_bytes else parts.ends - parts.starts
    return np.asarray(lengths >= rule.min_length)


def _blank(codes: Codes, parts: _Parts, rule: Deduper) -> NDArray[np.bool_]:
    from corpus_assets.attributes.dedupers.kernels.paragraphs import are_blank

    space = UNICODE_SPACE if rule.compat else SPACE
    blank: NDArray[np.bool_] = are_blank(codes, character_flags(), space, parts.starts, parts.ends)
    return blank


def _words(codes: Codes, parts: _Parts, rule: Deduper) -> _Words:
    """Returns the words of all parts (UAX #29), those of punctuation included."""
    from corpus_assets.attributes.kernels.word_breaks.boundaries import find_words

    flags = _unicode_space() if rule.compat else character_flags()
    return _Words(*find_words(codes, flags, word_break_classes(), parts.starts, parts.ends))


@cache
def _unicode_space() -> NDArray[np.uint8]:
    """Returns a table of flags whose whitespace is Unicode's: Dolma does not count U+001C to U+001F as such."""
    return np.where(character_flags() & UNICODE_SPACE, SPACE, 0).astype(np.uint8)


def _hashes(codes: Codes, starts: Places, ends: Places) -> Hashes:
    from corpus_assets.attributes.dedupers.kernels.hashing import hash_parts

    hashes: Hashes = hash_parts(codes, starts, ends)
    return hashes


def _ngrams(codes: Codes, parts: _Parts, words: _Words, rule: Deduper) -> tuple[Hashes, Places, Places]:
    """Returns the hashes of all parts, how many each has, and how many of these make its score.

    A part without an n-gram has one hash, of the whole. With `compat: dolma` a part with a single n-gram has that hash
    too, which then determines its score, although other parts are compared with the n-gram.
    """
    from corpus_assets.attributes.dedupers.kernels.hashing import hash_ngrams

    grams: Hashes
    sizes: Places
    hashed = _hashes(codes, words.starts, words.ends)
    grams, sizes = hash_ngrams(hashed, words.counts, rule.ngram.length, rule.ngram.stride, rule.compat is not None)
    if rule.ngram.skip_short:
        return grams, sizes, sizes
    whole = sizes < (2 if rule.compat else 1)
    places = np.cumsum(sizes)[whole]
    wholes = _hashes(codes, parts.starts[whole], parts.ends[whole])
    if rule.compat and rule.ngram.length == 1:  # For Dolma the whole of one word is an n-gram too.
        wholes, _ = hash_ngrams(wholes, np.ones(len(wholes), dtype=np.int64), 1, 1, True)
    grams = np.insert(grams, places, wholes, axis=0)
    return grams, sizes + whole, np.where(whole, 1, sizes)
