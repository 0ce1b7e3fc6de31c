"""Fill in the middle inside finished rows, after docs/formats/cerebras-rows.md "FIM", without "Defect: FIM rows"."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from corpus_assets.config.datasets.modes import FIMDataset
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes.fim_transform import (
    ControlIds,
    Decisions,
    KeyedDecisions,
    Kind,
    cut_text,
    encode_for_rows,
)
from corpus_assets.tokenize.ragged import Ids
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError

REPLACEMENT = "\ufffd"
CHARACTER_TOKENS = 3  # a cut UTF-8 character has at most three bytes, so at most three ids
PREFIX, MIDDLE, SUFFIX = range(3)
TRIM_ORDER = (SUFFIX, PREFIX, MIDDLE)
NOTHING = np.empty(0, np.int32)


class Passage(NamedTuple):
    """Ids between two end-of-text ids, and what they become.

    `head` and `tail` stay at the outer ends of prefix and suffix: halves of a character that the row border cuts.
    `parts`: prefix, middle, suffix; of `fim_none` only the suffix is not empty. `continues`: the row ends inside the
    document, so no end-of-text id follows; `last_part`, which then ends the row, has at least one id.
    """

    ids: Ids
    begin: Ids
    continues: bool = False
    head: Ids = NOTHING
    tail: Ids = NOTHING
    kind: Kind = "fim_none"
    texts: tuple[str, ...] = ()
    parts: tuple[Ids, Ids, Ids] = (NOTHING, NOTHING, NOTHING)

    @property
    def fixed(self) -> int:
        """Ids that are never cut off: control ids, and the end-of-text id or the one id that replaces it."""
        return self.begin.size + (1 if self.kind == "fim_none" else 4)

    @property
    def last_part(self) -> int:
        """The part that the layout ends with."""
        return SUFFIX if self.kind == "fim_none" else MIDDLE

    def plain(self) -> "Passage":
        """Returns the original passage."""
        return self._replace(kind="fim_none", parts=(NOTHING, NOTHING, self.ids))


def fim_rows(
    blocks: Iterable[Ids],
    tokenizer: Tokenizer,
    section: FIMDataset,
    statistics: Statistics,
    *,
    decisions: Decisions | None = None,
) -> Iterator[Ids]:
    """Yields rows of `lm_rows`, int32 blocks (rows, 3, L), transformed inside every row.

    The L + 1 ids of a row, its inputs and its last label, are split at their end-of-text ids. Each passage is decoded,
    cut and encoded. It is closed by an end-of-text id if it was before: where the row ends inside a document, so does
    the last passage, and the last label is an id of that document. As before, that passage's last id is also the first
    of the next row. So a row ends with an end-of-text id if and only if it did before, and a row of which nothing is
    transformed stays as it is. What exceeds L + 1 ids is cut off in turn (`trimmed`) and counted as `fim_cut`; what is
    missing is padding. `statistics` must be those of the rows, and become those of the transformed rows.

    Padding is no passage, and halves of a character stay out of the transform. These stay as they are, counted as
    `fim_none`: a passage whose transform would destroy or make control tokens, one at whose empty middle the row would
    end, and the last passages of a row that the control ids alone would fill. So do passages without text, uncounted if
    they have no id. The decisions follow from the seed, the passage's ids and its place in the row.

    `reference` does as Cerebras' Model Zoo instead: an end-of-text id replaces the last label, padding counts as
    document border and must equal that id, a row that ends with it gets an empty passage more, halves of characters
    become replacement characters, every passage begins with the begin-of-text id if a setting of the tokenizer says so,
    and every part as `encode_for_rows` begins it.
    """
    transform = _RowTransform(tokenizer, section, statistics, decisions or KeyedDecisions.of(section))
    for block in blocks:
        yield transform.block(block)


class _RowTransform:
    def __init__(self, tokenizer: Tokenizer, section: FIMDataset, statistics: Statistics, decisions: Decisions) -> None:
        # The parts of a passage follow a control token, and a passage may go on with a text of the row before.
        self._tokenizer = tokenizer if section.reference else tokenizer.after_control
        self._reference = section.reference
        self._statistics = statistics
        self._decisions = decisions
        self._control = ControlIds.of(tokenizer, section)
        self._control_ids = list(tokenizer.special_tokens.values())
        self._mask = (0, 1) if section.inverted_mask else (1, 0)
        self._length = section.sequence_length
        if self._reference and tokenizer.pad_id != tokenizer.eos_id:
            raise ConfigError(f"pad id is {tokenizer.pad_id}; valid with reference: the eos id {tokenizer.eos_id}")

    def block(self, block: Ids) -> Ids:
        """Returns the block with every row transformed."""
        rows = [self._passages(row) for row in block]
        encoded = self._encode([text for row in rows for passage in row for text in passage.texts])
        result = np.empty_like(block)
        result[:] = np.array([self._tokenizer.pad_id, self._mask[1], self._tokenizer.pad_id], np.int32)[:, None]
        for before, after, passages in zip(block, result, rows, strict=True):
            self._fill(before, after, [self._with_parts(passage, encoded) for passage in passages])
        return result

    def _passages(self, row: Ids) -> list[Passage]:
        ids = row[0] if self._reference else self._real_ids(row)
        *closed, last = np.split(ids, np.flatnonzero(ids == self._control.end) + 1)
        closed = [passage[:-1] for passage in closed]
        if self._reference:
            filled = [passage for passage in closed if passage.size]
            return [self._decided(passage, place) for place, passage in enumerate([*filled, last])]
        passages = [self._decided(passage, place) for place, passage in enumerate(closed)]
        return [*passages, self._decided(last, len(closed), continues=True)] if last.size else passages

    def _real_ids(self, row: Ids) -> Ids:
        """Returns the inputs without padding, and the last label."""
        real = int(np.count_nonzero(row[1] == self._mask[0]))
        return np.concatenate([row[0, :real], row[2, max(0, real - 1) : real]])

    def _decided(self, ids: Ids, place: int, *, continues: bool = False) -> Passage:
        begins = self._reference or (ids.size > 0 and np.array_equal(ids[:1], self._control.begin))
        begin = self._control.begin if begins else NOTHING
        body = ids if self._reference else ids[begin.size :]
        if not body.size and not self._reference:
            return Passage(ids, NOTHING, continues).plain()
        passage = Passage(body, begin, continues).plain()
        key = place.to_bytes(8, "little") + ids.astype("<i4").tobytes()
        if not self._decisions.applies(key):
            return passage
        head, text, tail = self._whole_characters(body)
        kind, texts = cut_text(text, key, self._decisions)
        return passage._replace(head=head, tail=tail, kind=kind, texts=tuple(texts))

    def _whole_characters(self, ids: Ids) -> tuple[Ids, str, Ids]:
        """Returns ids of a half character at the start, the text of the others, ids of a half character at the end."""
        text = self._tokenizer.decode(ids)
        first, last = 0, ids.size
        if self._reference:
            return ids[:first], text, ids[last:]
        while first < min(CHARACTER_TOKENS, last) and text.startswith(REPLACEMENT):
            first += 1
            text = self._tokenizer.decode(ids[first:last])
        while last > max(first, ids.size - CHARACTER_TOKENS) and text.endswith(REPLACEMENT):
            last -= 1
            text = self._tokenizer.decode(ids[first:last])
        return ids[:first], text, ids[last:]

    def _encode(self, texts: Sequence[str]) -> Iterator[Ids]:
        if self._reference:
            return iter(encode_for_rows(texts, self._tokenizer))
        return iter(self._tokenizer.encode_plain(texts))

    def _with_parts(self, passage: Passage, encoded: Iterator[Ids]) -> Passage:
        if passage.kind == "fim_none":
            return passage
        prefix, middle, suffix = (next(encoded) for _ in passage.texts)
        if not self._reference and np.isin(passage.ids, self._control_ids).any():
            # Control tokens among the ids are no text; only matching them brings them back.
            prefix, middle, suffix = (self._tokenizer.encode_trusted(text, bos=False) for text in passage.texts)
            if self._controls(passage.ids) != self._controls(np.concatenate([prefix, middle, suffix])):
                return passage.plain()
        if passage.continues and not middle.size:
            return passage.plain()
        parts = np.concatenate([passage.head, prefix]), middle, np.concatenate([suffix, passage.tail])
        return passage._replace(parts=parts)

    def _controls(self, ids: Ids) -> list[int]:
        return [int(token) for token in ids[np.isin(ids, self._control_ids)]]

    def _fill(self, before: Ids, after: Ids, passages: list[Passage]) -> None:
        window = self._length + 1
        for place in reversed(range(len(passages))):
            if sum(passage.fixed for passage in passages) <= window:
                break
            passages[place] = passages[place].plain()
        sizes = [[part.size for part in passage.parts] for passage in passages]
        for passage, left in zip(passages, sizes, strict=True):
            left[passage.last_part] -= passage.continues
        excess = sum(map(sum, sizes)) + sum(passage.fixed for passage in passages) - window
        joined = [self._joined(*both) for both in zip(passages, trimmed(sizes, excess), strict=True)]
        ids = np.concatenate([NOTHING, *joined])[:window]
        labels = max(0, ids.size - 1)
        after[:, :labels] = ids[:-1], np.full(labels, self._mask[0]), ids[1:]
        self._count(before, passages, labels, max(0, excess))

    def _joined(self, passage: Passage, left: Sequence[int]) -> Ids:
        sizes = list(left)
        sizes[passage.last_part] += passage.continues
        prefix, middle, suffix = passage.parts
        parts = [prefix[prefix.size - sizes[PREFIX] :], middle[middle.size - sizes[MIDDLE] :], suffix[: sizes[SUFFIX]]]
        end = NOTHING if passage.continues else self._control.end
        return np.concatenate([passage.begin, self._control.joined(passage.kind, parts), end])

    def _count(self, before: Ids, passages: Sequence[Passage], labels: int, cut: int) -> None:
        statistics = self._statistics
        statistics.kinds.update(passage.kind for passage in passages if passage.ids.size or self._reference)
        more = labels - int(np.count_nonzero(before[1] == self._mask[0]))
        statistics.add_rows(0, 0, real=more, loss=more)
        statistics.document_tokens += more + cut
        statistics.drop("fim_cut", 0, cut)


def trimmed(sizes: Sequence[Sequence[int]], excess: int) -> list[list[int]]:
    """Returns sizes of prefix, middle and suffix of every passage after `excess` ids, if positive, were cut off.

    Passages take turns, one id each: from the suffix, then the prefix, then the middle, then again. A turn that finds
    its part empty only moves on to the next part.
    """
    left = [list(parts) for parts in sizes]
    turn = [0] * len(left)
    excess = min(excess, sum(map(sum, left)))
    while excess > 0:
        for place, parts in enumerate(left):
            part = TRIM_ORDER[turn[place]]
            if not parts[part]:
                turn[place] = (turn[place] + 1) % len(TRIM_ORDER)
            elif excess > 0:
                parts[part] -= 1
                excess -= 1
    return left
