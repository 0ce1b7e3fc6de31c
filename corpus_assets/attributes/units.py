"""Words and paragraphs of a text, computed once per document and shared by all taggers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import character_flags, codes
from resources.documents.tagger import Text
from resources.formats.attributes import Counts

Positions = NDArray[np.int64]


class Words(NamedTuple):
    """Beginnings and ends of words (words,), in code points."""

    starts: Positions
    ends: Positions

    @property
    def lengths(self) -> Positions:
        """Code points of each word."""
        return self.ends - self.starts


class Paragraphs(NamedTuple):
    """Beginnings and ends of paragraphs (paragraphs,), newline included, and which are blank."""

    starts: Positions
    ends: Positions
    blank: NDArray[np.bool_]


def words(text: Text) -> Words:
    """Returns the words of `str.split()`."""
    from corpus_assets.attributes.kernels.units import split_words

    return Words(*split_words(text.once(codes), character_flags()))


def all_paragraphs(text: Text) -> Paragraphs:
    """Returns the parts that end with a newline, and the rest after the last one."""
    from corpus_assets.attributes.kernels.units import split_paragraphs

    return Paragraphs(*split_paragraphs(text.once(codes), character_flags()))


def paragraphs(text: Text) -> Paragraphs:
    """Returns the paragraphs that are not only whitespace."""
    found = text.once(all_paragraphs)
    full = ~found.blank
    return Paragraphs(found.starts[full], found.ends[full], found.blank[full])


def counted(starts: Positions, ends: Positions, counts: Positions) -> Counts:
    """Returns a span per unit, with a count."""
    from corpus_assets.attributes.kernels.encoding import encode_spans

    encoded = encode_spans(starts, ends, np.ascontiguousarray(counts))
    return Counts(encoded.tobytes(), len(starts), float(counts.sum()))


def marked(starts: Positions, ends: Positions) -> Counts:
    """Returns a span per unit, with score 1."""
    return counted(starts, ends, np.ones(len(starts), dtype=np.int64))
