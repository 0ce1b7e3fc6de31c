"""Conversations written by a chat template to ids, and what of them is learned.

Ids are those of Hugging Face's `tokenizer(apply_chat_template(messages, tokenize=False), add_special_tokens=False)` as
long as no message spells a control token. One that a message spells stays plain text: control tokens are looked for
in the stretches that the template wrote, and nowhere else.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterator, Sequence
from itertools import zip_longest
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.modes.chat_alignment import Content, ControlTokens, Conversation, align_all
from corpus_assets.tokenize.modes.chat_template import TemplateFault
from corpus_assets.tokenize.modes.limited_template import LimitedTemplate
from corpus_assets.tokenize.ragged import Ids
from corpus_assets.tokenize.token_starts import token_starts
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.formats.examples import Messages

Flags = NDArray[np.bool_]
Span = tuple[int, int]


CONTROL_IN_TEXT = "control_token_in_text"


class ChatSequence(NamedTuple):
    """int32 ids (n,) of a conversation, and bool (n,): whether each is learned."""

    ids: Ids
    learned: Flags


class _Piece(NamedTuple):
    """text[start:stop]: a control token with its id, or plain text."""

    start: int
    stop: int
    control: int | None = None

    @property
    def plain(self) -> bool:
        return self.control is None


class ChatEncoder:
    """Conversations to ids and what of them is learned."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        template: LimitedTemplate,
        *,
        roles: Container[str] | None,
        only_last: bool,
    ) -> None:
        """`roles`: learned, None for generation blocks."""
        self._tokenizer = tokenizer
        self._template = template
        self._tokens = ControlTokens(tokenizer.special_tokens)
        self._roles = roles
        self._only_last = only_last

    def align(self, messages: Messages) -> Conversation:
        """Returns a rendered conversation with its contents; raises the TemplateFault of `align_all`."""
        (found,) = self.align_all([messages])
        if isinstance(found, TemplateFault):
            raise found
        return found

    def align_all(self, conversations: Sequence[Messages]) -> list[Conversation | TemplateFault]:
        """Returns rendered conversations with their contents; see `chat_alignment.align_all`."""
        return align_all(self._template, conversations, self._tokens)

    def encode(self, messages: Messages, aligned: Conversation) -> ChatSequence:
        """Returns the ids of a rendered conversation; TemplateFault if plain text becomes a control token."""
        text, spans = aligned.text, self._learned(messages, aligned)
        pieces = list(self._pieces(aligned))
        encoded = iter(
            self._tokenizer.encode_plain([text[piece.start : piece.stop] for piece in pieces if piece.plain])
        )
        ids, learned = [np.empty(0, np.int32)], [np.empty(0, np.bool_)]
        for piece in pieces:
            ids.append(next(encoded) if piece.plain else np.array([piece.control], np.int32))
            self._check(text, piece, ids[-1])
            learned.append(self._flags(text, piece, ids[-1], spans))
        return ChatSequence(np.concatenate(ids), np.concatenate(learned))

    def _check(self, text: str, piece: _Piece, ids: Ids) -> None:
        spelled = [
            self._tokens.ids[text[first:last]] for first, last in self._tokens.find(text, piece.start, piece.stop)
        ]
        if piece.plain and spelled and np.isin(ids, spelled).any():
            raise TemplateFault(CONTROL_IN_TEXT, "the tokenizer makes a control token of plain text")

    def _flags(self, text: str, piece: _Piece, ids: Ids, spans: Sequence[Span]) -> Flags:
        """Returns which ids of a piece are learned: those that hold a code point of one of the spans."""
        first = bisect_right(spans, piece.start, key=itemgetter(1))
        inside = spans[first : bisect_left(spans, piece.stop, key=itemgetter(0))]
        covers = bool(inside) and inside[0][0] <= piece.start and piece.stop <= inside[0][1]
        flags = np.full(ids.size, covers)
        if inside and not covers:
            starts = piece.start + token_starts(text[piece.start : piece.stop], ids, self._tokenizer)
            # Tokens that share a character start at the same place and stop where the next character's token starts.
            stops = np.append(starts, piece.stop)[np.searchsorted(starts, starts, side="right")]
            for start, stop in inside:
                flags[np.searchsorted(stops, start, side="right") : np.searchsorted(starts, stop)] = True
        return flags

    def _pieces(self, aligned: Conversation) -> Iterator[_Piece]:
        """Yields the control tokens of the template, and what lies between them."""
        before = 0
        for start, stop in self._template_stretches(aligned):
            for first, last in self._tokens.find(aligned.text, start, stop):
                if before < first:
                    yield _Piece(before, first)
                yield _Piece(first, last, self._tokens.ids[aligned.text[first:last]])
                before = last
        if before < len(aligned.text):
            yield _Piece(before, len(aligned.text))

    @staticmethod
    def _template_stretches(aligned: Conversation) -> Iterator[Span]:
        before = 0
        for content in aligned.contents:
            yield before, content.start
            before = content.stop
        yield before, len(aligned.text)

    def _learned(self, messages: Messages, aligned: Conversation) -> list[Span]:
        """Returns stretches of the text that are learned, in their order."""
        roles = self._roles
        if roles is None:
            return list(aligned.generated[-1:] if self._only_last else aligned.generated)
        chosen = [number for number, message in enumerate(messages) if message["role"] in roles]
        wanted = set(chosen[-1:] if self._only_last else chosen)
        pairs = zip_longest(aligned.contents, aligned.contents[1:])  # After the last one comes none.
        return [(here.start, self._end(aligned.text, here, after)) for here, after in pairs if here.message in wanted]

    def _end(self, text: str, here: Content, after: Content | None) -> int:
        """Returns where what is learned with a content ends."""
        if after is not None and after.message == here.message:
            return after.start
        control = next(self._tokens.find(text, here.stop, after.start if after else len(text)), None)
        return control[1] if control else here.stop
