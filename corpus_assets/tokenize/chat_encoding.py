"""Conversations written by a chat template to ids, and what of them is learned.

Ids are those of Hugging Face's `tokenizer(apply_chat_template(messages, tokenize=False), add_special_tokens=False)` as
long as no message spells a control token. One that a message spells stays plain text: control tokens are looked for
in the stretches that the template wrote, and nowhere else.
"""

from collections.abc import Container, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.alignment import Content, ControlTokens, Conversation, align
from corpus_assets.tokenize.protocol import Tokenizer
from corpus_assets.tokenize.ragged import Ids
from corpus_assets.tokenize.template import ChatTemplate, TemplateFault
from resources.examples import Messages

Flags = NDArray[np.bool_]
Span = tuple[int, int]


class ChatSequence(NamedTuple):
    """int32 ids (n,) of a conversation, and bool (n,): whether each is learned."""

    ids: Ids
    learned: Flags


class ChatEncoder:
    """Conversations to ids and what of them is learned."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        template: ChatTemplate,
        values: Mapping[str, Any],
        *,
        roles: Container[str] | None,
        only_last: bool,
    ) -> None:
        """`values`: for the template, beside the tokenizer's. `roles`: learned, None for generation blocks."""
        self._tokenizer = tokenizer
        self._template = template
        self._values = {**tokenizer.template_values, **values}
        self._tokens = ControlTokens(tokenizer.special_tokens)
        self._roles = roles
        self._only_last = only_last

    def align(self, messages: Messages) -> Conversation:
        """See `alignment.align`."""
        return align(self._template, messages, self._values, self._tokens)

    def encode(self, messages: Messages, aligned: Conversation) -> ChatSequence:
        """Ids of a rendered conversation. Raises TemplateFault if the tokenizer makes a control token of plain text."""
        spans = self._learned(messages, aligned)
        parts = [self._piece(aligned.text, start, stop, control) for start, stop, control in self._pieces(aligned)]
        ids = np.concatenate([np.empty(0, np.int32), *(part[0] for part in parts)])
        starts = np.concatenate([np.empty(0, np.int64), *(part[1] for part in parts)])
        stops = np.concatenate([np.empty(0, np.int64), *(part[2] for part in parts)])
        learned = np.zeros(ids.size, np.bool_)
        for start, stop in spans:
            learned[np.searchsorted(stops, start, side="right") : np.searchsorted(starts, stop)] = True
        return ChatSequence(ids, learned)

    def _piece(
        self, text: str, start: int, stop: int, control: int | None
    ) -> tuple[Ids, NDArray[np.int64], NDArray[np.int64]]:
        """Ids of a stretch, and where in the text each starts and stops."""
        if control is not None:
            return np.array([control], np.int32), np.array([start]), np.array([stop])
        ids, offsets = self._tokenizer.encode_offsets(text[start:stop])
        spelled = [self._tokens.ids[text[first:last]] for first, last in self._tokens.find(text, start, stop)]
        if spelled and np.isin(ids, spelled).any():
            raise TemplateFault("control_token_in_text", "the tokenizer makes a control token of plain text")
        # Tokens that share a character start at the same place and stop where the next character's token starts.
        starts = start + offsets
        following = np.searchsorted(starts, starts, side="right")
        return ids, starts, np.append(starts, stop)[following]

    def _pieces(self, aligned: Conversation) -> Iterator[tuple[int, int, int | None]]:
        """(start, stop, id) of the control tokens of the template, and of what lies between them, without id."""
        before = 0
        for start, stop in self._template_stretches(aligned):
            for first, last in self._tokens.find(aligned.text, start, stop):
                if before < first:
                    yield before, first, None
                yield first, last, self._tokens.ids[aligned.text[first:last]]
                before = last
        if before < len(aligned.text):
            yield before, len(aligned.text), None

    @staticmethod
    def _template_stretches(aligned: Conversation) -> Iterator[Span]:
        before = 0
        for content in aligned.contents:
            yield before, content.start
            before = content.stop
        yield before, len(aligned.text)

    def _learned(self, messages: Messages, aligned: Conversation) -> list[Span]:
        """Stretches of the text that are learned, in their order."""
        roles = self._roles
        if roles is None:
            return list(aligned.generated[-1:] if self._only_last else aligned.generated)
        chosen = [number for number, message in enumerate(messages) if message["role"] in roles]
        wanted = set(chosen[-1:] if self._only_last else chosen)
        following: list[Content | None] = [*aligned.contents[1:], None]
        pairs = zip(aligned.contents, following, strict=True)
        return [(here.start, self._end(aligned.text, here, after)) for here, after in pairs if here.message in wanted]

    def _end(self, text: str, here: Content, after: Content | None) -> int:
        """Where what is learned with a content ends."""
        if after is not None and after.message == here.message:
            return after.start
        control = next(self._tokens.find(text, here.stop, after.start if after else len(text)), None)
        return control[1] if control else here.stop
