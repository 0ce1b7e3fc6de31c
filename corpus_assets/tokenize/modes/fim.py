"""Fill in the middle: documents whose middle is moved to their end (Bavarian et al. 2022, sections 3 and 4).

A document is cut in two places into prefix, middle and suffix and written as `PRE prefix SUF suffix MID middle` (PSM)
or `PRE SUF suffix MID prefix middle` (SPM), each followed by the end-of-text id when it is packed. This module
transforms the text of whole documents; `fim_rows.py` transforms finished rows: docs/formats/cerebras-rows.md "FIM".
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from corpus_assets.config.datasets.modes import FIMDataset
from corpus_assets.tokenize.counts.discarded import of_text
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.encode.cleaning import clean
from corpus_assets.tokenize.encode.texts import encode_texts
from corpus_assets.tokenize.modes.fim_rows import fim_rows
from corpus_assets.tokenize.modes.fim_transform import (
    ControlIds,
    Decisions,
    KeyedDecisions,
    Kind,
    cut_text,
    turns_bos_off,
)
from corpus_assets.tokenize.modes.lm import LM_REASONS, lm_rows_over_files
from corpus_assets.tokenize.modes.mode import IdentifiedText, MaskedBatch, Mode, Tools, texts_of
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.rows.layouts import TEXTS
from corpus_assets.tokenize.token_starts import token_starts
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer

BATCH_CHARACTERS = 1 << 20
SECTION_CHARACTERS = 1 << 18
SPELLED_OUT = 8  # characters per position: a longer text is cut into pieces without trying it as a whole


def fim_documents(
    documents: Iterable[IdentifiedText],
    tokenizer: Tokenizer,
    section: FIMDataset,
    statistics: Statistics,
    *,
    decisions: Decisions | None = None,
) -> Iterator[Ragged]:
    """Yields the ids of documents after the transform, for `lm_rows`, which appends the end-of-text id.

    Every part is encoded from its own text, control tokens in it as plain text, so nothing is ever decoded. The
    decisions depend only on (seed, identity, text), not on batches. A list has at most L ids, so that with its
    end-of-text id it fits a window: a longer document is cut at code points into pieces of almost that many ids, each
    with decisions of its own. A piece that would grow beyond it by its cuts stays as it is. Empty texts are counted as
    discarded; `kinds` counts the lists as fim_psm, fim_spm, fim_none.
    """
    transform = _DocumentTransform(tokenizer, section, statistics, decisions or KeyedDecisions.of(section))
    yield from (transform.lists(batch)[0] for batch, _ in _batches(documents, section, statistics))


def _batches(
    documents: Iterable[IdentifiedText], section: FIMDataset, statistics: Statistics
) -> Iterator[tuple[list[IdentifiedText], list[int]]]:
    """Yields cleaned documents that have a text, with their numbers among all that were read."""
    batch: list[IdentifiedText] = []
    numbers: list[int] = []
    characters = 0
    for number, document in enumerate(documents):
        text = clean(document.text, section)
        statistics.processed_files += 1
        statistics.sources.read(document.source)
        statistics.add_text(document.text, text)
        if not text:
            statistics.discard_document("empty_text", shown=[of_text(document.identity, document.text)])
            statistics.sources.skip()
            continue
        batch.append(document._replace(text=text))
        numbers.append(number)
        characters += len(text)
        if characters >= BATCH_CHARACTERS:
            yield batch, numbers
            batch, numbers, characters = [], [], 0
    if batch:
        yield batch, numbers


def masked_documents(
    section: FIMDataset, documents: Iterable[IdentifiedText], tools: Tools, most: int
) -> Iterator[MaskedBatch]:
    """Yields documents of at most `most` ids after the transform, with their end-of-text ids; all of it is learned."""
    tokenizer, statistics = tools.tokenizer, tools.statistics
    end = [] if tokenizer.eos_id is None else [tokenizer.eos_id]
    section = section.model_copy(update={"sequence_length": most - len(end)})
    transform = _DocumentTransform(tokenizer, section, statistics, KeyedDecisions.of(section))
    for batch, numbers in _batches(documents, section, statistics):
        lists, counts = transform.lists(batch)
        ids = np.insert(lists.ids, lists.offsets[1:], end[0]) if end else lists.ids
        tokens = Ragged(ids, lists.offsets + len(end) * np.arange(len(lists.offsets)))
        masks = Ragged(np.ones_like(tokens.ids), tokens.offsets)
        statistics.add_lengths(tokens.lengths)
        yield MaskedBatch(tokens, masks, np.repeat(np.array(numbers, np.int64), counts))


class _Unit(NamedTuple):
    """A document, or a piece of one; `number` counts the pieces."""

    identity: str
    number: int
    text: str

    @property
    def key(self) -> bytes:
        identity = self.identity.encode()
        return struct.pack("<IQ", len(identity), self.number) + identity + self.text.encode()


class _DocumentTransform:
    def __init__(self, tokenizer: Tokenizer, section: FIMDataset, statistics: Statistics, decisions: Decisions) -> None:
        self._tokenizer = tokenizer
        self._statistics = statistics
        self._decisions = decisions
        self._control = ControlIds.of(tokenizer, section)
        self._length = section.sequence_length
        # Three control ids, and a few more that come from cutting inside tokens.
        self._piece = self._length - self._control.begin.size - 3 - self._length // 32

    def lists(self, documents: Sequence[IdentifiedText]) -> tuple[Ragged, list[int]]:
        """Returns the lists of the documents, in order, and how many each has."""
        whole = [_Unit(document.identity, 0, document.text) for document in documents]
        tried = iter(self._encode([unit for unit in whole if self._may_fit(unit)]))
        results = [next(tried) if self._may_fit(unit) else None for unit in whole]
        long = [unit for unit, result in zip(whole, results, strict=True) if not self._fits(result)]
        pieces = self._pieces(long)
        encoded = iter(self._fitting([piece for group in pieces for piece in group]))
        groups = iter([[next(encoded) for _ in group] for group in pieces])
        kept = [[result] if result and self._fits(result) else next(groups) for result in results]
        chosen = [result for group in kept for result in group]
        counts = [*map(len, kept)]
        self._statistics.sources.divide(counts)
        self._statistics.kinds.update(kind for kind, _ in chosen)
        return Ragged.of(ids for _, ids in chosen), counts

    def _may_fit(self, unit: _Unit) -> bool:
        return len(unit.text) <= SPELLED_OUT * self._length

    def _fits(self, result: tuple[Kind, Ids] | None) -> bool:
        return result is not None and result[1].size <= self._length

    def _fitting(self, pieces: Sequence[_Unit]) -> list[tuple[Kind, Ids]]:
        results = self._encode(pieces)
        grown = [number for number, result in enumerate(results) if not self._fits(result)]
        plain = self._tokenizer.encode_plain([pieces[number].text for number in grown])
        for number, ids in zip(grown, plain, strict=True):
            results[number] = "fim_none", np.concatenate([self._control.begin, ids])
        return results

    def _encode(self, units: Sequence[_Unit]) -> list[tuple[Kind, Ids]]:
        cut = [self._cut(unit) for unit in units]
        whole = iter(self._tokenizer.encode_plain([parts[0] for kind, parts in cut if kind == "fim_none"]))
        rearranged = [part for kind, parts in cut if kind != "fim_none" for part in parts]
        after = iter(self._tokenizer.after_control.encode_plain(rearranged))  # Each part follows a control token.
        encoded = [(kind, [next(whole if kind == "fim_none" else after) for _ in parts]) for kind, parts in cut]
        begin = self._control.begin
        return [(kind, np.concatenate([begin, self._control.joined(kind, ids)])) for kind, ids in encoded]

    def _cut(self, unit: _Unit) -> tuple[Kind, list[str]]:
        key = unit.key
        return cut_text(unit.text, key, self._decisions) if self._decisions.applies(key) else ("fim_none", [unit.text])

    def _pieces(self, units: Sequence[_Unit]) -> list[list[_Unit]]:
        """Returns the pieces of each of the documents."""
        sections = [_sections(unit.text) for unit in units]
        encoded = iter(self._tokenizer.encode_plain([section for group in sections for section in group]))
        pieces = [
            [piece for section in group for piece in text_pieces(section, next(encoded), self._tokenizer, self._piece)]
            for group in sections
        ]
        return [
            [_Unit(unit.identity, number, piece) for number, piece in enumerate(group)]
            for unit, group in zip(units, pieces, strict=True)
        ]


def _sections(text: str) -> list[str]:
    return [text[start : start + SECTION_CHARACTERS] for start in range(0, len(text), SECTION_CHARACTERS)]


def text_pieces(text: str, ids: Ids, tokenizer: Tokenizer, size: int) -> Iterator[str]:
    """Yields pieces of the text of at most `size` of its `ids` each, as far as ids have borders between code points."""
    starts = token_starts(text, ids, tokenizer)
    begin = token = 0
    while token + size < len(starts):
        # One code point may have more ids than a piece has room for.
        end = max(int(starts[token + size]), begin + 1)
        yield text[begin:end]
        begin, token = end, int(np.searchsorted(starts, end))
    if begin < len(text):
        yield text[begin:]


def _rows(section: FIMDataset, documents: Iterable[IdentifiedText], tools: Tools) -> Iterator[Ids]:
    return next(_rows_over_files(section, [documents], tools))


def _rows_over_files(
    section: FIMDataset, files: Sequence[Iterable[IdentifiedText]], tools: Tools
) -> Iterator[Iterator[Ids]]:
    tokenizer, statistics = tools.tokenizer, tools.statistics

    def lists(documents: Iterable[IdentifiedText]) -> Iterator[Ragged]:
        if section.fim_level == "document":
            return fim_documents(documents, tokenizer, section, statistics)
        return _for_rows(documents, section, tools)

    rows = lm_rows_over_files(
        map(lists, files), section, tokenizer.eos_id, tokenizer.pad_id, statistics, decode=tokenizer.decode
    )
    if section.fim_level == "document":
        return rows
    statistics.sources.loss_known = False  # Rows hold documents of several sources, and lose some of their ids.
    return (fim_rows(blocks, tokenizer, section, statistics) for blocks in rows)


def _for_rows(documents: Iterable[IdentifiedText], section: FIMDataset, tools: Tools) -> Iterator[Ragged]:
    """Yields the ids of documents for rows that are transformed afterwards."""
    tokenizer, statistics = tools.tokenizer, tools.statistics
    bare = section.reference and turns_bos_off(tokenizer)
    if bare:
        section = section.model_copy(update={"remove_bos_in_pieces": True})
    for batch in encode_texts(texts_of(documents, statistics), tokenizer, section, statistics):
        yield batch.without_firsts() if bare else batch


def _control(section: FIMDataset, _: Tokenizer, __: str | None) -> tuple[str, ...]:
    """Returns the tokens around the parts; Cerebras goes by the tokenizer's file alone."""
    return () if section.reference else (section.prefix_token, section.middle_token, section.suffix_token)


FIM = Mode(
    section=FIMDataset,
    control=_control,
    words="Fill-in-the-middle rows",
    layout=TEXTS,
    rows=_rows,
    rows_over_files=_rows_over_files,
    masked=masked_documents,
    reasons=LM_REASONS,
)
