"""Rows of prompt and completion pairs, of which the completion alone is learned.

A pair is prompt [end] [separator] completion end, each text with its prefix. One row per pair, padded
(docs/formats/cerebras-rows.md "Summarization"), or whole conversations of pairs packed into rows ("Summarization_VSL").
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.encode.cleaning import CleaningSettings
from corpus_assets.tokenize.modes.truncation import Frame, Truncation, cut_pairs
from corpus_assets.tokenize.modes.turns import Pair, TurnsError, batches, cleaned, count_sequences, padded_rows, pairs
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.rows.vsl import PackingSettings, VSLPacker
from corpus_assets.tokenize.statistics import Statistics
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError
from resources.formats.examples import Example

Spans = NDArray[np.int64]
_RULES = ("discard", "prompt_start", "prompt_end", "completion_end", "oldest_turns")


@dataclass(frozen=True)
class SummarizationSettings:
    """How pairs become sequences; names after docs/formats/cerebras-hdf5.md "Parameter names".

    sequence_length: L, positions per row. A padded pair has at most L ids, a packed conversation L + 1.
    minimum_length: shorter pairs (ids), or packed conversations (positions), are discarded.
    prompt_prefix, completion_prefix: text before every prompt or completion; neither is learned.
    separator: control token after the prompt, which the tokenizer must have.
    eos_after_prompt: the end-of-text id follows the prompt too, before the separator.
    inverted_mask: the stored loss mask is 0 on what is learned and 1 elsewhere, padding included.
    truncate: what becomes of what is too long, see `truncation.cut_pairs`; `oldest_turns` is for conversations.
    """

    sequence_length: int
    minimum_length: int = 6
    prompt_prefix: str | None = None
    completion_prefix: str | None = None
    separator: str | None = None
    eos_after_prompt: bool = False
    inverted_mask: bool = False
    truncate: Truncation = "discard"
    cleaning: CleaningSettings = field(default_factory=CleaningSettings)

    def __post_init__(self) -> None:
        if self.sequence_length < 1:
            raise ConfigError(f"sequence_length is {self.sequence_length}; valid: 1 or more")
        if (minimum := self.minimum_length) > self.sequence_length:
            raise ConfigError(f"minimum_length is {minimum}; valid: at most {self.sequence_length}")
        if self.truncate not in _RULES:
            raise ConfigError(f"truncate is {self.truncate!r}; valid: {', '.join(_RULES)}")


def summarization_rows(
    examples: Iterable[Example], tokenizer: Tokenizer, settings: SummarizationSettings, statistics: Statistics
) -> Iterator[Ids]:
    """One row per pair, in order, as int32 blocks (rows, 3, L): inputs, loss mask, labels.

    Pairs of a conversation are rows by themselves. `statistics` counts pairs as documents; one with an empty text is
    discarded (`empty_prompt`, `empty_completion`), as is one that is too short or too long, and an example that is
    no list of pairs (see `turns.pairs`). ConfigError for a separator that the tokenizer does not have.
    """
    if settings.truncate == "oldest_turns":
        raise ConfigError("truncate is 'oldest_turns'; valid for pairs by themselves: the other rules")
    length = settings.sequence_length
    builder = _Builder(tokenizer, settings, statistics, capacity=length, minimum=settings.minimum_length)
    for batch in batches(_single_pairs(examples, settings.cleaning, statistics)):
        tokens, masks = builder.sequences(batch)
        yield from padded_rows(
            tokens,
            masks,
            length=length,
            pad_id=tokenizer.pad_id,
            inverted=settings.inverted_mask,
            statistics=statistics,
        )


def summarization_vsl_rows(
    examples: Iterable[Example],
    tokenizer: Tokenizer,
    settings: SummarizationSettings,
    packing: PackingSettings,
    statistics: Statistics,
) -> Iterator[Ids]:
    """Conversations packed into rows, as int32 blocks (rows, 5, L); see `vsl.VSLPacker`.

    `statistics` counts conversations as documents. A pair with an empty text is left out and counted in
    `dropped_sequences`; a conversation without any other is discarded. ConfigError for a separator that the tokenizer
    does not have, and if `packing` has another length or mask.
    """
    length = settings.sequence_length
    if (packing.sequence_length, packing.inverted_mask) != (length, settings.inverted_mask):
        raise ConfigError("packing and pairs differ in sequence_length or inverted_mask; valid: the same in both")
    packer = VSLPacker(packing, tokenizer.pad_id, statistics)
    builder = _Builder(tokenizer, settings, statistics, capacity=length + 1, minimum=settings.minimum_length + 1)
    for batch in batches(_conversations(examples, settings.cleaning, statistics)):
        yield from packer.add(*builder.sequences(batch))
    yield from packer.finish()


def _single_pairs(
    examples: Iterable[Example], cleaning: CleaningSettings, statistics: Statistics
) -> Iterator[tuple[list[Pair], int]]:
    """Every usable pair by itself, with its characters; the others are counted as discarded."""
    for example in examples:
        for pair in _pairs_or_none(example, statistics):
            statistics.processed_files += 1
            prompt, completion = cleaned(pair, cleaning, statistics)
            if missing := _missing(prompt, completion):
                statistics.discard_document(missing)
            else:
                yield [(prompt, completion)], len(prompt) + len(completion)


def _conversations(
    examples: Iterable[Example], cleaning: CleaningSettings, statistics: Statistics
) -> Iterator[tuple[list[Pair], int]]:
    """The usable pairs of every conversation that has any, with their characters."""
    for example in examples:
        given = [cleaned(pair, cleaning, statistics) for pair in _pairs_or_none(example, statistics)]
        statistics.processed_files += bool(given)
        kept = [pair for pair in given if not _missing(*pair)]
        if given and not kept:
            statistics.discard_document(_missing(*given[0]))
            continue
        for pair in given:
            if missing := _missing(*pair):
                statistics.drop(missing, 1, 0)
        if kept:
            yield kept, sum(len(prompt) + len(completion) for prompt, completion in kept)


def _pairs_or_none(example: Example, statistics: Statistics) -> list[Pair]:
    try:
        return pairs(example)
    except TurnsError as fault:
        statistics.processed_files += 1
        statistics.discard_document(fault.reason)
        return []


def _missing(prompt: str, completion: str) -> str:
    if not prompt:
        return "empty_prompt"
    return "" if completion else "empty_completion"


class _Taken(NamedTuple):
    """Pairs that go into sequences: spans (pairs, 2) of ids, whether each is the first of its sequence, whether the end
    follows it, and how many pairs each sequence has.
    """

    prompts: Spans
    completions: Spans
    firsts: NDArray[np.bool_]
    ends: NDArray[np.bool_]
    counts: NDArray[np.int64]


class _Builder:
    """Sequences of ids and loss masks from batches of conversations, all texts of a batch encoded at once."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        settings: SummarizationSettings,
        statistics: Statistics,
        *,
        capacity: int,
        minimum: int,
    ) -> None:
        self._tokenizer = tokenizer
        self._rule = settings.truncate
        self._statistics = statistics
        self._capacity = capacity
        self._minimum = minimum
        self._skip = int(tokenizer.adds_bos)
        end = np.array([] if tokenizer.eos_id is None else [tokenizer.eos_id], np.int32)
        prompt_prefix, completion_prefix = (
            self._prefix(settings.prompt_prefix),
            self._prefix(settings.completion_prefix),
        )
        begin = np.array([tokenizer.bos_id] if self._skip else [], np.int32)
        bridge = np.concatenate([end if settings.eos_after_prompt else end[:0], self._separator(settings.separator)])
        self._fixed = (np.concatenate([begin, prompt_prefix]), prompt_prefix, bridge, completion_prefix, end)
        every = prompt_prefix.size + bridge.size + completion_prefix.size
        self._frame = Frame(opening=begin.size, every=every, end=end.size)

    def sequences(self, conversations: list[list[Pair]]) -> tuple[Ragged, Ragged]:
        """Ids and loss masks of the conversations that are not discarded."""
        prompts = self._tokenizer.encode_batch([prompt for listed in conversations for prompt, _ in listed])
        completions = self._tokenizer.encode_batch([text for listed in conversations for _, text in listed])
        counts = np.array([len(listed) for listed in conversations], np.int64)
        taken = self._taken(self._spans(prompts), self._spans(completions), counts)
        return self._assembled(prompts.ids, completions.ids, taken)

    def _prefix(self, text: str | None) -> Ids:
        """Ids of a prefix, control tokens matched: it comes from the configuration. No begin-of-text id."""
        return self._tokenizer.encode_trusted(text, bos=False) if text else np.empty(0, np.int32)

    def _separator(self, token: str | None) -> Ids:
        if token is None:
            return np.empty(0, np.int32)
        found = self._tokenizer.token_id(token)
        if found is None:
            raise ConfigError(f"separator is {token!r}; valid: a token of the vocabulary")
        return np.array([found], np.int32)

    def _spans(self, encoded: Ragged) -> Spans:
        """Where the ids of each text are, the begin-of-text id left out: it stands in the opening."""
        start, stop = encoded.offsets[:-1], encoded.offsets[1:]
        return np.stack([np.minimum(start + self._skip, stop), stop], 1)

    def _taken(self, prompts: Spans, completions: Spans, counts: NDArray[np.int64]) -> _Taken:
        """What of the conversations goes into sequences: too long ones cut or discarded, too short ones discarded."""
        frame, bounds = self._frame, np.concatenate([[0], np.cumsum(counts)])
        firsts = np.zeros(len(prompts), np.bool_)
        firsts[bounds[:-1]] = True
        kept, ends = np.ones(len(prompts), np.bool_), np.ones(len(prompts), np.bool_)
        pair_sizes = np.diff(prompts)[:, 0] + np.diff(completions)[:, 0] + frame.every + frame.end
        before = np.add.reduceat(pair_sizes, bounds[:-1]) + frame.opening if counts.size else counts
        counts = counts.copy()
        for number in np.flatnonzero(before > self._capacity).tolist():
            pairs_ = slice(*bounds[number : number + 2].tolist())
            sizes = np.diff(prompts[pairs_])[:, 0], np.diff(completions[pairs_])[:, 0]
            cut = cut_pairs(*sizes, frame, self._capacity, self._rule)
            kept[pairs_] = firsts[pairs_] = False
            counts[number] = 0
            if cut is None:
                self._discard("too_long", before[number : number + 1])
                continue
            counts[number] = len(cut.ends)
            first = pairs_.start + cut.first
            pairs_ = slice(first, first + len(cut.ends))
            prompts[pairs_] = prompts[pairs_, :1] + cut.prompts
            completions[pairs_] = completions[pairs_, :1] + cut.completions
            kept[pairs_], ends[pairs_], firsts[first] = True, cut.ends, True
            self._truncated(int(before[number]), prompts[pairs_], completions[pairs_], cut.ends)
        short = before < self._minimum
        self._discard("below_minimum_length", before[short])
        counts[short] = 0
        kept &= ~np.repeat(short, np.diff(bounds))
        return _Taken(prompts[kept], completions[kept], firsts[kept], ends[kept], counts[counts > 0])

    def _discard(self, reason: str, sizes: NDArray[np.int64]) -> None:
        """Count conversations of these sizes in ids as discarded; the first id of none would have been a label."""
        tokens = int(sizes.sum())
        self._statistics.discard_document(reason, sizes.size)
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
