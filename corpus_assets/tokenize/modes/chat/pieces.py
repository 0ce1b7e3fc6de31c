"""The text of a conversation in pieces: control tokens that the template wrote, and plain text between them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.modes.chat.alignment import Conversation
from corpus_assets.tokenize.modes.chat.control_tokens import ControlTokens
from corpus_assets.tokenize.ragged import Ragged
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer

Flags = NDArray[np.bool_]
Span = tuple[int, int]
PLAIN = -1
"""Instead of the id of a control token; no tokenizer has it."""


class Piece(NamedTuple):
    """text[start:stop]: a control token with its id, or plain text.

    learned: whether it lies in a learned span as a whole, or in none; None if one begins or ends in it.
    """

    start: int
    stop: int
    control: int
    learned: bool | None


def pieces_of(aligned: Conversation, learned_spans: Sequence[Span], tokens: ControlTokens) -> Iterator[Piece]:
    """Yields control tokens of the template, and what lies between them, without white space that goes with them."""
    text, spans = aligned.text, iter(learned_spans)
    span, before = next(spans, None), 0
    for start, stop, control in (*_written_tokens(aligned, tokens), (len(text), len(text), PLAIN)):
        begin, end = tokens.with_spaces(text, start, stop)
        for first, last, id_ in ((before, begin, PLAIN), (start, stop, control)):
            if first >= last:
                continue
            while span is not None and span[1] <= first:
                span = next(spans, None)
            learned: bool | None = span is not None and span[0] < last
            if span is not None and learned and not (span[0] <= first and last <= span[1]):
                learned = None
            yield Piece(first, last, id_, learned)
        before = end


def _written_tokens(aligned: Conversation, tokens: ControlTokens) -> Iterator[tuple[int, int, int]]:
    """Yields (start, stop, id) of the control tokens in the stretches of a text that the template wrote."""
    text, before = aligned.text, 0
    for start, stop in (*((content.start, content.stop) for content in aligned.contents), (len(text), len(text))):
        around = text[before:start]
        for first, last in tokens.find_again(around):
            yield before + first, before + last, tokens.ids[around[first:last]]
        before = stop


def encode_pieces(tokenizer: Tokenizer, texts: Sequence[tuple[str, Sequence[Piece]]]) -> tuple[Ragged, Flags]:
    """Returns the ids of every piece of all texts, and whether each is learned because its whole piece is.

    All plain text is encoded as one batch.
    """
    pieces = [piece for _, parts in texts for piece in parts]
    plain = [
        (text[piece.start : piece.stop], piece.start == 0)
        for text, parts in texts
        for piece in parts
        if piece.control == PLAIN
    ]
    return _ids_of(pieces, _encode_plain(tokenizer, plain))


def _encode_plain(tokenizer: Tokenizer, texts: Sequence[tuple[str, bool]]) -> Ragged:
    """Returns the ids of plain texts, each with True if it begins a conversation; others follow a control token."""
    inner = tokenizer.after_control
    if inner is tokenizer:
        return tokenizer.encode_plain([text for text, _ in texts])
    first = iter(tokenizer.encode_plain([text for text, begins in texts if begins]))
    later = iter(inner.encode_plain([text for text, begins in texts if not begins]))
    return Ragged.of(next(first if begins else later) for _, begins in texts)


def spans_in(piece: Piece, spans: Sequence[Span]) -> Sequence[Span]:
    """Returns the spans of which a part lies in a piece."""
    first = bisect_right(spans, piece.start, key=itemgetter(1))
    return spans[first : bisect_left(spans, piece.stop, key=itemgetter(0))]


def _ids_of(pieces: Sequence[Piece], plain: Ragged) -> tuple[Ragged, Flags]:
    """Returns the ids of every piece, and whether each is learned because its whole piece is.

    plain: the ids of the pieces that are plain text.
    """
    control = np.array([piece.control for piece in pieces], np.int32)
    lengths = np.ones(control.size, np.int64)
    lengths[control == PLAIN] = plain.lengths
    ids = np.repeat(control, lengths)
    ids[ids == PLAIN] = plain.ids
    learned = np.repeat(np.array([piece.learned is True for piece in pieces], np.bool_), lengths)
    return Ragged(ids, np.concatenate([[0], np.cumsum(lengths)])), learned
