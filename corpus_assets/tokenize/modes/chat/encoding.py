"""Makes ids and loss masks of conversations in the format of a chat template.

Ids are those of Hugging Face's `tokenizer(apply_chat_template(messages, tokenize=False), add_special_tokens=False)` as
long as no message spells a control token. A control token that a message spells stays plain text: control tokens are
matched only in stretches that the template wrote.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corpus_assets.tokenize.modes.chat.alignment import Aligning, Conversation, Frame
from corpus_assets.tokenize.modes.chat.answers import Asking, Style
from corpus_assets.tokenize.modes.chat.control_tokens import ControlTokens
from corpus_assets.tokenize.modes.chat.dialogues import Dialogue, TemplateFault
from corpus_assets.tokenize.modes.chat.limited_template import LimitedTemplate, Parts
from corpus_assets.tokenize.modes.chat.masking import ASKING_ROLES
from corpus_assets.tokenize.modes.chat.pieces import PLAIN, Flags, Piece, Span, encode_pieces, pieces_of, spans_in
from corpus_assets.tokenize.modes.chat.template_server import Asked
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.token_starts import Heads, token_starts
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer

CONTROL_IN_TEXT = "control_token_in_text"


class ChatSequence(NamedTuple):
    """int32 ids (n,) of a conversation, and bool (n,): whether each is learned."""

    ids: Ids
    learned: Flags


@dataclass(frozen=True)
class Talk:
    """A conversation to encode: the template's input, and for each message whether it states if it is learned."""

    dialogue: Dialogue
    learned: tuple[bool | None, ...]

    def up_to(self, number: int) -> "Talk":
        """Returns the conversation that ends with a message, of which that one alone is learned."""
        dialogue = Dialogue(self.dialogue.messages[: number + 1], self.dialogue.values)
        return Talk(dialogue, (*[False] * number, True))


@dataclass(frozen=True)
class Written:
    """A conversation as a template wrote it, and the stretches of its text that are learned, in their order.

    silent: messages that are to be learned, and of which the text has nothing.
    """

    talk: Talk
    aligned: Conversation
    spans: tuple[Span, ...]
    silent: int = 0


class ChatEncoder:
    """Encodes conversations to ids and loss masks."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        template: LimitedTemplate,
        *,
        roles: Collection[str] | None,
        only_last: bool,
    ) -> None:
        """`roles`: learned, None for generation blocks. The tokenizer has the markers of turns as control tokens."""
        self._tokenizer = tokenizer
        self._template = template
        self._inner = tokenizer.after_control
        self._heads = Heads(tokenizer)
        self._inner_heads = self._heads if self._inner is tokenizer else Heads(self._inner)
        self._tokens = ControlTokens(tokenizer.special_tokens, tokenizer.strips)
        self._roles = roles
        self._only_last = only_last
        self._style = Style() if roles is None else Style.of(template, self._tokens, answering(roles))

    def write(self, talk: Talk) -> Written | None:
        """Returns a conversation as one text, None if no answer is learned in it; raises the TemplateFault."""
        (found,) = self._write_whole([talk])
        if isinstance(found, TemplateFault):
            raise found
        written, _ = found
        return written if written.spans else None

    def write_all(self, talks: Sequence[Talk]) -> list[list[Written] | TemplateFault]:
        """Returns each conversation as its texts, or the fault of `Aligning`.

        It is one text if the template shows each learned answer in it unchanged. Other answers have separate texts, up
        to the answer (`answers.py`). A text without learned ids is returned only if it is the only one.
        """
        whole = self._write_whole(talks)
        alone = [self._alone(talk, found) for talk, found in zip(talks, whole, strict=True)]
        rest = iter(self._write_whole([talk for group in alone for talk in group]))
        return [_texts_of(found, [next(rest) for _ in group]) for found, group in zip(whole, alone, strict=True)]

    def _write_whole(self, talks: Sequence[Talk]) -> list[tuple[Written, tuple[int, ...]] | TemplateFault]:
        """Returns each conversation as one text, and the messages whose answers it does not show, or the fault."""
        aligning = [Aligning(talk.dialogue, self._tokens) for talk in talks]
        asking = [Asking(talk.dialogue, self._wanted(talk), self._style) for talk in talks]
        shapes = {text.shape: text.masked for text in aligning if text.masked is not None}
        asked = [Asked(talk.dialogue, answers.cuts) for talk, answers in zip(talks, asking, strict=True)]
        rendered = self._template.render_cut([*asked, *map(Asked, shapes.values())])
        frames = dict(zip(shapes, (Frame.of(masked) for masked, _ in rendered[len(talks) :]), strict=True))
        results: list[tuple[Written, tuple[int, ...]] | TemplateFault] = []
        for talk, text, answers, (whole, ends) in zip(talks, aligning, asking, rendered, strict=False):
            found = text.found(whole, frames.get(text.shape))
            if isinstance(found, TemplateFault):
                results.append(found)
                continue
            spans, rewritten = self._spans(talk, found, answers, ends)
            results.append((Written(talk, found, spans, self._silent(talk, spans, rewritten)), rewritten))
        return results

    def _alone(self, talk: Talk, found: tuple[Written, tuple[int, ...]] | TemplateFault) -> list[Talk]:
        """Returns the conversations that end with an answer that is to be learned in a text of its own."""
        return [] if isinstance(found, TemplateFault) else [talk.up_to(number) for number in found[1]]

    def _wanted(self, talk: Talk) -> set[int]:
        """Returns the messages that are learned, none where generation blocks say it."""
        messages = talk.dialogue.messages
        chosen = [number for number in self._chosen(talk) if _says_something(messages[number])]
        return set(chosen[-1:] if self._only_last else chosen)

    def _silent(self, talk: Talk, spans: Sequence[Span], rewritten: Sequence[int]) -> int:
        if self._roles is None or self._only_last:
            return 0
        return len(self._chosen(talk)) - len(spans) - len(rewritten)

    def _chosen(self, talk: Talk) -> list[int]:
        """Returns the messages of those who are learned, whatever they say."""
        roles = self._roles or ()
        said = zip(talk.dialogue.messages, talk.learned, strict=True)
        return [
            number
            for number, (message, learned) in enumerate(said)
            if (message["role"] in roles if learned is None else learned and self._roles is not None)
        ]

    def _spans(
        self, talk: Talk, found: Conversation, answers: Asking, ends: Parts
    ) -> tuple[tuple[Span, ...], tuple[int, ...]]:
        if self._roles is None:
            blocks = [span for span in found.generated if not _left_out(talk, found, span)]
            return tuple(blocks[-1:] if self._only_last else blocks), ()
        learned = answers.found(found, ends, self._tokens)
        return tuple((answer.start, answer.stop) for answer in learned.found), learned.rewritten

    def encode(self, written: Written) -> ChatSequence:
        """Returns the ids of a rendered conversation; TemplateFault if plain text becomes a control token."""
        (found,) = self.encode_all([written])
        if isinstance(found, TemplateFault):
            raise found
        return found

    def encode_all(self, texts: Sequence[Written]) -> list[ChatSequence | TemplateFault]:
        """Returns the ids of each rendered conversation, or the fault if plain text becomes a control token."""
        pieces = [list(pieces_of(written.aligned, written.spans, self._tokens)) for written in texts]
        aligned = [(one.aligned.text, parts) for one, parts in zip(texts, pieces, strict=True)]
        ids, learned = encode_pieces(self._tokenizer, aligned)
        found, stop = list[ChatSequence | TemplateFault](), 0
        for written, parts in zip(texts, pieces, strict=True):
            start, stop = stop, stop + len(parts)
            own = Ragged(ids.ids, ids.offsets[start : stop + 1])
            found.append(self._sequence(written, parts, own, learned))
        return found

    def _sequence(
        self, written: Written, pieces: Sequence[Piece], ids: Ragged, learned: Flags
    ) -> ChatSequence | TemplateFault:
        """Returns the ids of a text. learned: of all texts, which it completes for its own."""
        if self._makes_control(written.aligned.text, pieces, ids):
            return TemplateFault(CONTROL_IN_TEXT, "the tokenizer makes a control token of plain text")
        offsets = ids.offsets.tolist()
        for piece, first, last in zip(pieces, offsets, offsets[1:], strict=False):
            if piece.learned is None:
                learned[first:last] = self._flags(written, piece, ids.ids[first:last])
        return ChatSequence(ids.ids[offsets[0] : offsets[-1]], learned[offsets[0] : offsets[-1]])

    def _makes_control(self, text: str, pieces: Sequence[Piece], ids: Ragged) -> bool:
        """Returns whether a control token that stands in plain text became its id."""
        written = [(piece.start, piece.stop) for piece in pieces if piece.control != PLAIN]
        if list(self._tokens.find(text, 0, len(text))) == written:
            return False  # No other is spelled anywhere.
        return any(
            np.isin(found, [self._tokens.ids[text[first:last]] for first, last in spelled]).any()
            for piece, found in zip(pieces, ids, strict=True)
            if piece.control == PLAIN and (spelled := list(self._tokens.find(text, piece.start, piece.stop)))
        )

    def _flags(self, written: Written, piece: Piece, ids: Ids) -> Flags:
        """Returns which ids of a piece are learned: those that hold a code point of one of the spans."""
        text, spans = written.aligned.text, written.spans
        flags = np.zeros(ids.size, np.bool_)
        touched = spans_in(piece, spans)
        tokenizer, heads = (self._inner, self._inner_heads) if piece.start else (self._tokenizer, self._heads)
        if len(touched) == 1 and touched[0][1] >= piece.stop:
            head = heads.ids_of(text[piece.start : touched[0][0]], ids)
            if head is not None:
                flags[head:] = True
                return flags
        starts = piece.start + token_starts(text[piece.start : piece.stop], ids, tokenizer)
        # Tokens that share a character start at the same place and stop where the next character's token starts.
        stops = np.append(starts, piece.stop)[np.searchsorted(starts, starts, side="right")]
        for start, stop in touched:
            flags[np.searchsorted(stops, start, side="right") : np.searchsorted(starts, stop)] = True
        return flags


def answering(roles: Iterable[str] | None) -> str:
    """Returns the role of those that are learned that answers."""
    return next((role for role in roles or () if role not in ASKING_ROLES), "assistant")


def _says_something(message: Mapping[str, Any]) -> bool:
    """Returns whether a message has any text beside its role."""
    return any(_has_text(value) for key, value in message.items() if key != "role")


def _has_text(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_text, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and bool(value)


def _left_out(talk: Talk, found: Conversation, span: Span) -> bool:
    """Returns whether a generation block holds the text of a message that says that it is not learned."""
    inside = (content.message for content in found.contents if span[0] <= content.start < span[1])
    return any(talk.learned[number] is False for number in inside)


def _texts_of(
    whole: tuple[Written, tuple[int, ...]] | TemplateFault,
    alone: Sequence[tuple[Written, tuple[int, ...]] | TemplateFault],
) -> list[Written] | TemplateFault:
    """Returns the texts of a conversation; its fault, or that of a part, if not all can be told."""
    written = list[Written]()
    for part in (*alone, whole):
        if isinstance(part, TemplateFault):
            return part
        written.append(part[0])
    return [text for text in written if text.spans] or written[-1:]
