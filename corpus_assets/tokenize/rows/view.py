"""A row of tokens as text for a person, with the labels in the loss marked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.ragged import Ids

LIMIT = 2000
SIDES = ("", "chosen_", "rejected_")
OPEN, CLOSE = "«", "»"
# Characters that move a terminal's cursor or colour its text.
_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}

Decode = Callable[[Ids], str]


@dataclass(frozen=True)
class TokenSequence:
    """Ids of one sequence, its last label included, and whether each is a label in the loss.

    first: position in the row of its first id.
    """

    ids: Ids
    learned: NDArray[np.bool_]
    first: int = 0


@dataclass(frozen=True)
class Side:
    """The channels of one text, (L,) each: a whole row, or one answer of a preference row."""

    name: str
    inputs: Ids
    learned: NDArray[np.bool_]
    labels: Ids
    spans: Ids | None = None
    positions: Ids | None = None

    @classmethod
    def of(cls, row: Ids, features: Sequence[str], name: str, inverted: bool) -> "Side":
        """Returns one text of a row (F, L). name: the prefix of its channels; inverted: the mask is 0 in the loss."""
        channels = dict(zip(features, row, strict=True))
        mask = channels[f"{name}attention_mask"] != 0
        return cls(
            name=name.rstrip("_"),
            inputs=channels[f"{name}input_ids"],
            learned=~mask if inverted else mask,
            labels=channels[f"{name}labels"],
            spans=channels.get("attention_span"),
            positions=channels.get("position_ids"),
        )

    def size(self, pad_id: int) -> int:
        """Returns the number of positions before the padding: out of the loss, the pad id as input and label."""
        real = self.learned | (self.inputs != pad_id) | (self.labels != pad_id)
        if self.spans is not None and self.positions is not None:
            real |= (self.spans != 0) | (self.positions != 0)
        return int(np.flatnonzero(real)[-1]) + 1 if real.any() else 0

    def sequences(self, pad_id: int) -> list[TokenSequence]:
        """Returns one sequence, or of a packed row one from each position id 0 on."""
        size = self.size(pad_id)
        starts = [0] if self.positions is None else np.flatnonzero(self.positions[:size] == 0).tolist()
        bounds = sorted({0, *starts, size})
        return [self._sequence(first, last, pad_id) for first, last in pairwise(bounds)]

    def _sequence(self, first: int, last: int, pad_id: int) -> TokenSequence:
        # Rows that are not packed may have an input at the end with padding for a label.
        labelled = self.positions is not None or bool(self.learned[last - 1]) or int(self.labels[last - 1]) != pad_id
        ids = np.append(self.inputs[first:last], self.labels[last - 1])
        learned = np.append(False, self.learned[first:last])
        kept = ids.size if labelled else ids.size - 1
        return TokenSequence(ids[:kept], learned[:kept], first)


def is_described(features: Sequence[str]) -> bool:
    """True if rows with these channels are rows of tokens that `described` knows."""
    return bool(side_names(features))


def described(
    row: Ids, features: Sequence[str], decode: Decode, *, pad_id: int, inverted: bool = False
) -> Iterator[str]:
    """Yields lines of text: what a row holds, then the text of each sequence, with the labels in the loss in «».

    row: int32 (F, L), its channels named by `features` (docs/formats/cerebras-hdf5.md "Channels").
    The text of a sequence is
    that of its inputs and its last label, without padding. A preference row has two: chosen and rejected.
    inverted: the mask is 0 where the loss counts (not of preference rows, whose mask is never stored so).

    About `LIMIT` characters of a row are shown; what is left out is counted. Control characters are escaped. A
    character whose bytes are in the loss in part stands where it becomes complete.
    ValueError for channels that are not known.
    """
    names = side_names(features)
    if not names:
        raise ValueError(f"features are {', '.join(features)}; valid: those of token rows")
    sides = [Side.of(row, features, name, inverted and not name) for name in names]
    found = [side.sequences(pad_id) for side in sides]
    tokens = sum(side.size(pad_id) for side in sides)
    learned = sum(int(np.count_nonzero(side.learned)) for side in sides)
    packed = f", {_count(len(found[0]), 'sequence')}" if sides[0].positions is not None else ""
    padding = len(sides) * row.shape[1] - tokens
    yield f"{_count(tokens, 'token')}, {padding:,} padding, {learned:,} in the loss{packed}"
    for side, sequences in zip(sides, found, strict=True):
        yield from _texts(side.name, sequences, decode, LIMIT // len(sides))


def side_names(features: Sequence[str]) -> list[str]:
    """Returns prefixes of the channels of the sides that are complete."""
    channels = ("input_ids", "attention_mask", "labels")
    return [name for name in SIDES if {f"{name}{channel}" for channel in channels} <= set(features)]


def _texts(name: str, sequences: Sequence[TokenSequence], decode: Decode, limit: int) -> Iterator[str]:
    """Yields indented lines of sequences, which share the limit."""
    for number, sequence in enumerate(sequences):
        if limit <= 0:
            yield f"  ... {_count(len(sequences) - number, 'more sequence')}"
            return
        title = name or (f"sequence {number}" if len(sequences) > 1 else "")
        text, size = _marked(sequence, decode, limit)
        limit -= size
        first, *others = text.translate(_ESCAPES).split("\n")
        yield f"  {title}: {first}" if title else f"  {first}"
        yield from (f"    {line}" for line in others)


def _marked(sequence: TokenSequence, decode: Decode, limit: int) -> tuple[str, int]:
    """Returns the text up to the limit, its parts in the loss marked; and its characters, those left out included.

    A part is cut out of the whole text, as what an id stands for may depend on the ids before it.
    """
    ids, learned = sequence.ids, sequence.learned
    text = decode(ids)
    shown, start = "", 0
    for last in (*(np.flatnonzero(learned[1:] != learned[:-1]) + 1).tolist(), ids.size):
        end = len(text) if last == ids.size else max(start, _common(text, decode(ids[:last])))
        if part := text[start : min(end, limit)]:
            shown += f"{OPEN}{part}{CLOSE}" if learned[last - 1] else part
        start = end
        if start >= limit:
            break
    more = len(text) - limit
    return (f"{shown} ... {_count(more, 'more character')}" if more > 0 else shown), len(text)


def _common(left: str, right: str) -> int:
    """Returns the number of equal characters at the beginning."""
    if left.startswith(right):
        return len(right)
    return next(i for i, (a, b) in enumerate(zip(left + "\0", right + "\1", strict=False)) if a != b)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
