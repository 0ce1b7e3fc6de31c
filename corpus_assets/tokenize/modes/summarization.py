"""Rows of prompt and completion pairs, of which the completion alone is learned.

A pair is prompt [end] [separator] completion end, each text with its prefix. One row per pair, padded
(docs/formats/cerebras-rows.md "Summarization"), or whole conversations of pairs packed into rows ("Summarization_VSL").
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.modes import SummarizationDataset, SummarizationVSLDataset
from corpus_assets.config.datasets.options import Cleaning, Turns
from corpus_assets.tokenize.counts.discarded import of_example, of_text
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes.chunks import chunked
from corpus_assets.tokenize.modes.mode import MaskedBatch, Mode, Tools
from corpus_assets.tokenize.modes.truncation import Frame, cut_pairs
from corpus_assets.tokenize.modes.turns import Pair, TurnsError, batches, cleaned, count_sequences, padded_rows, pairs
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.rows.layouts import ANSWERS, PACKED_ANSWERS
from corpus_assets.tokenize.rows.vsl import VSLPacker
from resources.errors import ConfigError
from resources.formats.examples import Example, chunk_bytes, keys_beside

Spans = NDArray[np.int64]


class _Conversation(NamedTuple):
    """The usable pairs of an example, all of which are one sequence. number: of the example among those read."""

    example: Example
    pairs: list[Pair]
    number: int


def summarization_rows(section: SummarizationDataset, examples: Iterable[Example], tools: Tools) -> Iterator[Ids]:
    """Yields one row per pair, in order, as int32 blocks (rows, 3, L): inputs, loss mask, labels.

    A pair has at most L ids. Pairs of a conversation are rows by themselves. `statistics` counts pairs as documents;
    one with an empty text is discarded (`empty_prompt`, `empty_completion`), as is one that is too short or too long,
    and an example that is no list of pairs (see `turns.pairs`). ConfigError for a separator that the tokenizer does not
    have.
    """
    length = section.sequence_length
    builder = _Builder(section, tools, capacity=length, minimum=section.minimum_length)
    for batch in batches(_single_pairs(examples, section, tools.statistics)):
        tokens, masks = builder.sequences(batch)
        yield from padded_rows(
            tokens,
            masks,
            length=length,
            pad_id=tools.tokenizer.pad_id,
            inverted=section.inverted_mask,
            statistics=tools.statistics,
        )


def summarization_vsl_rows(
    section: SummarizationVSLDataset, examples: Iterable[Example], tools: Tools
) -> Iterator[Ids]:
    """Yields conversations packed into rows, as int32 blocks (rows, 5, L); see `vsl.VSLPacker`.

    A conversation has at most L + 1 ids. `statistics` counts conversations as documents. A pair with an empty text is
    left out and counted in `dropped_sequences`; a conversation without any other is discarded. ConfigError for a
    separator that the tokenizer does not have.
    """
    capacity, minimum = section.sequence_length + 1, section.minimum_length + 1
    builder = _Builder(section, tools, capacity=capacity, minimum=minimum, ends_prompts=section.eos_after_prompt)
    packer = VSLPacker(section, tools.tokenizer.pad_id, tools.statistics)
    for chunk in chunked(examples, chunk_bytes, section.packing_text):
        for batch in batches(_conversations(chunk, section, tools.statistics)):
            yield from packer.add(*builder.sequences(batch))
        yield from packer.finish()


def masked_pairs(
    section: SummarizationDataset, examples: Iterable[Example], tools: Tools, most: int
) -> Iterator[MaskedBatch]:
    """Yields pairs of at most `most` ids, before they are padded; otherwise as `summarization_rows`."""
    builder = _Builder(section, tools, capacity=most, minimum=section.minimum_length)
    for batch in batches(_single_pairs(examples, section, tools.statistics)):
        yield builder.masked(batch)


def masked_turns(
    section: SummarizationVSLDataset, examples: Iterable[Example], tools: Tools, most: int
) -> Iterator[MaskedBatch]:
    """Yields conversations of at most `most` ids, before they are packed; otherwise as `summarization_vsl_rows`."""
    minimum = section.minimum_length + 1
    builder = _Builder(section, tools, capacity=most, minimum=minimum, ends_prompts=section.eos_after_prompt)
    for batch in batches(_conversations(examples, section, tools.statistics)):
        yield builder.masked(batch)


def _single_pairs(
    examples: Iterable[Example], cleaning: Cleaning, statistics: Statistics
) -> Iterator[tuple[_Conversation, int]]:
    """Yields every usable pair by itself, with its characters; the others are counted as discarded."""
    for number, example in enumerate(examples):
        for pair in _pairs_or_none(example, statistics):
            statistics.processed_files += 1
            prompt, completion = cleaned(pair, cleaning, statistics)
            if missing := _missing(prompt, completion):
                shown = of_text(f"{example.source}/{example.id}", prompt or completion)
                statistics.discard_document(missing, shown=[shown])
            else:
                yield _Conversation(example, [(prompt, completion)], number), len(prompt) + len(completion)


def _conversations(
    examples: Iterable[Example], cleaning: Cleaning, statistics: Statistics
) -> Iterator[tuple[_Conversation, int]]:
    """Yields the usable pairs of every conversation that has any, with their characters."""
    for number, example in enumerate(examples):
        given = [cleaned(pair, cleaning, statistics) for pair in _pairs_or_none(example, statistics)]
        statistics.processed_files += bool(given)
        kept = [pair for pair in given if not _missing(*pair)]
        if given and not kept:
            statistics.discard_document(_missing(*given[0]), shown=[of_example(example)])
            continue
        for pair in given:
            if missing := _missing(*pair):
                statistics.drop(missing, 1, 0)
        if kept:
            size = sum(len(prompt) + len(completion) for prompt, completion in kept)
            yield _Conversation(example, kept, number), size


def _pairs_or_none(example: Example, statistics: Statistics) -> list[Pair]:
    statistics.note_unread(keys_beside(example))
    try:
        return pairs(example)
    except TurnsError as fault:
        statistics.processed_files += 1
        statistics.discard_document(fault.reason, shown=[of_example(example)])
        return []


def _missing(prompt: str, completion: str) -> str:
    if not prompt:
        return "empty_prompt"
    return "" if completion else "empty_completion"


class _Taken(NamedTuple):
    """Pairs that go into sequences: spans (pairs, 2) of ids, whether each is the first of its sequence, whether the end
    follows it, how many pairs each sequence has, and which of the conversations it is.
    """

    prompts: Spans
    completions: Spans
    firsts: NDArray[np.bool_]
    ends: NDArray[np.bool_]
    counts: NDArray[np.int64]
    kept: NDArray[np.int64]


class _Builder:
    """Sequences of ids and loss masks from batches of conversations, all texts of a batch encoded at once."""

    def __init__(
        self, section: Turns, tools: Tools, *, capacity: int, minimum: int, ends_prompts: bool = False
    ) -> None:
        self._tokenizer = tokenizer = tools.tokenizer
        self._rule = section.truncate
        self._statistics = tools.statistics
        self._capacity = capacity
        self._minimum = minimum
        self._skip = int(tokenizer.adds_bos)
        end = np.array([] if tokenizer.eos_id is None else [tokenizer.eos_id], np.int32)
        prompt_prefix = self._prefix(section.prompt_prefix)
        completion_prefix = self._prefix(section.completion_prefix)
        begin = np.array([tokenizer.bos_id] if self._skip else [], np.int32)
        bridge = np.concatenate([end if ends_prompts else end[:0], self._separator(section.separator)])
        self._fixed = (np.concatenate([begin, prompt_prefix]), prompt_prefix, bridge, completion_prefix, end)
        every = prompt_prefix.size + bridge.size + completion_prefix.size
        self._frame = Frame(opening=begin.size, every=every, end=end.size)

    def sequences(self, conversations: list[_Conversation]) -> tuple[Ragged, Ragged]:
        """Returns the ids and loss masks of the conversations that are not discarded."""
        tokens, masks, _ = self.masked(conversations)
        return tokens, masks

    def masked(self, conversations: list[_Conversation]) -> MaskedBatch:
        """Returns the same, with the numbers of their examples."""
        prompts = self._tokenizer.encode_batch([prompt for one in conversations for prompt, _ in one.pairs])
        completions = self._tokenizer.encode_batch([text for one in conversations for _, text in one.pairs])
        taken = self._taken(self._spans(prompts), self._spans(completions), conversations)
        numbers = np.array([one.number for one in conversations], np.int64)
        return MaskedBatch(*self._assembled(prompts.ids, completions.ids, taken), numbers[taken.kept])

    def _prefix(self, text: str | None) -> Ids:
        """Returns the ids of a prefix, control tokens matched: it comes from the configuration. No begin-of-text id."""
        return self._tokenizer.encode_trusted(text, bos=False) if text else np.empty(0, np.int32)

    def _separator(self, token: str | None) -> Ids:
        if token is None:
            return np.empty(0, np.int32)
        found = self._tokenizer.token_id(token)
        if found is None:
            raise ConfigError(f"separator is {token!r}; valid: a token of the vocabulary")
        return np.array([found], np.int32)

    def _spans(self, encoded: Ragged) -> Spans:
        """Returns where the ids of each text are, the begin-of-text id left out: it stands in the opening."""
        start, stop = encoded.offsets[:-1], encoded.offsets[1:]
        return np.stack([np.minimum(start + self._skip, stop), stop], 1)

    def _taken(self, prompts: Spans, completions: Spans, conversations: Sequence[_Conversation]) -> _Taken:
        """Returns what is kept of the conversations: long ones are cut or discarded, short ones discarded."""
        counts = np.array([len(one.pairs) for one in conversations], np.int64)
        frame, bounds = self._frame, np.concatenate([[0], np.cumsum(counts)])
        firsts = np.zeros(len(prompts), np.bool_)
        firsts[bounds[:-1]] = True
        kept, ends = np.ones(len(prompts), np.bool_), np.ones(len(prompts), np.bool_)
        pair_sizes = np.diff(prompts)[:, 0] + np.diff(completions)[:, 0] + frame.every + frame.end
        before = np.add.reduceat(pair_sizes, bounds[:-1]) + frame.opening if counts.size else counts
        self._statistics.add_lengths(before)
        for number in np.flatnonzero(before > self._capacity).tolist():
            pairs_ = slice(*bounds[number : number + 2].tolist())
            sizes = np.diff(prompts[pairs_])[:, 0], np.diff(completions[pairs_])[:, 0]
            cut = cut_pairs(*sizes, frame, self._capacity, self._rule)
            kept[pairs_] = firsts[pairs_] = False
            counts[number] = 0
            if cut is None:
                self._discard("too_long", before[number : number + 1], conversations[number : number + 1])
                continue
            counts[number] = len(cut.ends)
            first = pairs_.start + cut.first
            pairs_ = slice(first, first + len(cut.ends))
            prompts[pairs_] = prompts[pairs_, :1] + cut.prompts
            completions[pairs_] = completions[pairs_, :1] + cut.completions
            kept[pairs_], ends[pairs_], firsts[first] = True, cut.ends, True
            self._truncated(int(before[number]), prompts[pairs_], completions[pairs_], cut.ends)
        short = before < self._minimum
        self._discard("below_minimum_length", before[short], compress(conversations, short))
        counts[short] = 0
        kept &= ~np.repeat(short, np.diff(bounds))
        whole = np.flatnonzero(counts)
        return _Taken(prompts[kept], completions[kept], firsts[kept], ends[kept], counts[whole], whole)

    def _discard(self, reason: str, sizes: NDArray[np.int64], discarded: Iterable[_Conversation]) -> None:
        """Count conversations of these sizes in ids as discarded; the first id of none would have been a label."""
        tokens = int(sizes.sum())
        self._statistics.discard_document(reason, sizes.size, (of_example(one.example) for one in discarded))
        self._statistics.document_tokens += tokens
        self._statistics.sequence_starts += sizes.size
        self._statistics.drop(reason, sizes.size, tokens - sizes.size)

    def _truncated(self, before: int, prompts: Spans, completions: Spans, ends: NDArray[np.bool_]) -> None:
        frame = self._frame
        texts = int(np.diff(prompts).sum() + np.diff(completions).sum())
        after = frame.opening + texts + frame.every * ends.size + frame.end * int(ends.sum())
        self._statistics.truncated_documents[self._rule] += 1
        self._statistics.document_tokens += before - after
        self._statistics.drop(self._rule, 0, before - after)

    def _assembled(self, prompts: Ids, completions: Ids, taken: _Taken) -> tuple[Ragged, Ragged]:
        from corpus_assets.tokenize.kernels.pairs import assemble

        frame = self._frame
        sizes = np.diff(taken.prompts)[:, 0] + np.diff(taken.completions)[:, 0] + frame.every
        sizes += frame.opening * taken.firsts + frame.end * taken.ends
        pair_offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
        tokens = np.empty(pair_offsets[-1], np.int32)
        masks = np.zeros_like(tokens)
        texts = (prompts, taken.prompts, completions, taken.completions)
        assemble(texts, taken.firsts, taken.ends, self._fixed, (tokens, masks, pair_offsets))
        offsets = pair_offsets[np.concatenate([[0], np.cumsum(taken.counts)])]
        self._statistics.document_tokens += tokens.size
        self._statistics.sequence_starts += taken.counts.size
        count_sequences(np.diff(offsets), int(masks.sum()), self._statistics)
        return Ragged(tokens, offsets), Ragged(masks, offsets)


REASONS = (
    *("no_messages", "odd_messages", "not_text", "empty_prompt", "empty_completion"),
    *("too_long", "below_minimum_length"),
)
SUMMARIZATION = Mode(
    section=SummarizationDataset,
    words="Prompts and completions",
    layout=ANSWERS,
    rows=summarization_rows,
    masked=masked_pairs,
    reasons=REASONS,
)
SUMMARIZATION_VSL = Mode(
    section=SummarizationVSLDataset,
    words="Packed prompts and completions",
    layout=PACKED_ANSWERS,
    rows=summarization_vsl_rows,
    masked=masked_turns,
    reasons=REASONS,
)
