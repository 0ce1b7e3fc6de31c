"""Fill in the middle: documents whose middle is moved to their end (Bavarian et al. 2022, sections 3 and 4).

A document is cut in two places into prefix, middle and suffix and written as `PRE prefix SUF suffix MID middle`
(PSM) or `PRE SUF suffix MID prefix middle` (SPM), each followed by the end-of-text id when it is packed. Here whole
documents are transformed, from their text; `fim_rows.py` transforms finished rows:
docs/formats/cerebras-rows.md "FIM".
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np

from corpus_assets.tokenize.encode.cleaning import CleaningSettings, clean
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.statistics import Statistics
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError
from resources.hashing import keyed_hash

Kind = Literal["fim_none", "fim_psm", "fim_spm"]

BATCH_CHARACTERS = 1 << 20
SECTION_CHARACTERS = 1 << 18
SHORTEST_SEQUENCE = 8
SPELLED_OUT = 8  # characters per position: a longer text is cut into pieces without trying it as a whole


@dataclass(frozen=True)
class FIMSettings:
    """How documents are transformed; names after docs/formats/cerebras-hdf5.md "Parameter names".

    sequence_length: L, positions per row. fim_rate: share of the documents (rows: segments) that are
    transformed. spm_rate: share of those that are written as SPM. prefix_token, middle_token, suffix_token: entries of
    the vocabulary. seed: of the keyed decisions. reference: of `fim_rows`, there explained.
    """

    sequence_length: int
    prefix_token: str
    middle_token: str
    suffix_token: str
    fim_rate: float = 0.9
    spm_rate: float = 0.5
    seed: int = 0
    reference: bool = False

    def __post_init__(self) -> None:
        if self.sequence_length < SHORTEST_SEQUENCE:
            raise ConfigError(f"sequence_length is {self.sequence_length}; valid with FIM: {SHORTEST_SEQUENCE} or more")
        for name, rate in (("fim_rate", self.fim_rate), ("spm_rate", self.spm_rate)):
            if not 0 <= rate <= 1:
                raise ConfigError(f"{name} is {rate}; valid: 0 to 1")
        tokens = (self.prefix_token, self.middle_token, self.suffix_token)
        if len(set(tokens)) < len(tokens):
            raise ConfigError(f"FIM tokens are {tokens}; valid: three different ones")


class Decisions(Protocol):
    """The random choices; `key` is what is decided about, and says nothing to a recording."""

    def applies(self, key: bytes) -> bool:
        """Whether the text is transformed."""

    def cuts(self, key: bytes, characters: int) -> tuple[int, int]:
        """Where the middle begins and ends, 0 <= begin <= end <= characters."""

    def suffix_first(self, key: bytes) -> bool:
        """Whether it is written as SPM."""


@dataclass(frozen=True)
class KeyedDecisions:
    """Choices that depend on the seed and the key alone, whatever was decided before."""

    seed: int
    fim_rate: float
    spm_rate: float

    def applies(self, key: bytes) -> bool:
        """True for the share `fim_rate` of all keys."""
        return keyed_hash("fim", self.seed, key) < self.fim_rate * 2**64

    def cuts(self, key: bytes, characters: int) -> tuple[int, int]:
        """Two uniform places, in order."""
        first, second = (keyed_hash("fim-cut", self.seed, key, n) % (characters + 1) for n in (0, 1))
        return min(first, second), max(first, second)

    def suffix_first(self, key: bytes) -> bool:
        """True for the share `spm_rate` of all keys."""
        return keyed_hash("fim-spm", self.seed, key) < self.spm_rate * 2**64


@dataclass(frozen=True)
class ControlIds:
    """Ids around the parts; `begin` and `end` are arrays of at most one id and of one."""

    begin: Ids
    prefix: Ids
    middle: Ids
    suffix: Ids
    end: Ids

    @classmethod
    def of(cls, tokenizer: Tokenizer, settings: FIMSettings) -> "ControlIds":
        """Raises ConfigError for a token that the vocabulary does not have, or without an end-of-text id."""
        if tokenizer.eos_id is None:
            raise ConfigError("the tokenizer has no end-of-text id; valid with FIM: one that has, or a given eos")
        begin = [tokenizer.bos_id] if tokenizer.adds_bos and tokenizer.bos_id is not None else []
        names = ("prefix_token", "middle_token", "suffix_token")
        parts = (_control_id(tokenizer, name, getattr(settings, name)) for name in names)
        return cls(*(np.array(ids, np.int32) for ids in (begin, *parts, [tokenizer.eos_id])))

    def joined(self, kind: Kind, parts: Sequence[Ids]) -> Ids:
        """Prefix, middle and suffix in the order of the kind; of `fim_none` the only part. Nothing before or after."""
        if kind == "fim_none":
            return np.concatenate(parts)
        prefix, middle, suffix = parts
        if kind == "fim_psm":
            return np.concatenate([self.prefix, prefix, self.suffix, suffix, self.middle, middle])
        return np.concatenate([self.prefix, self.suffix, suffix, self.middle, prefix, middle])


def _control_id(tokenizer: Tokenizer, name: str, token: str) -> list[int]:
    found = tokenizer.token_id(token)
    if found is None:
        raise ConfigError(f"{name} is {token!r}; valid: a token of the vocabulary ({tokenizer.vocab_size} entries)")
    return [found]


def cut_text(text: str, key: bytes, decisions: Decisions) -> tuple[Kind, list[str]]:
    """The kind, and prefix, middle and suffix of a text that is transformed. Cuts are between code points."""
    begin, end = decisions.cuts(key, len(text))
    parts = [text[:begin], text[begin:end], text[end:]]
    return "fim_spm" if decisions.suffix_first(key) else "fim_psm", parts


def fim_documents(
    documents: Iterable[tuple[str, str]],
    tokenizer: Tokenizer,
    settings: FIMSettings,
    statistics: Statistics,
    *,
    cleaning: CleaningSettings | None = None,
    decisions: Decisions | None = None,
) -> Iterator[Ragged]:
    """Ids of documents (identity, text) after the transform, for `lmdata_rows`, which puts the end-of-text id behind.

    Every part is encoded from its own text, control tokens in it as plain text, so nothing is ever decoded. The
    decisions follow from (seed, identity, text); batches have no influence. A list has at most L ids, so that with its
    end-of-text id it fits a window: a longer document is cut at code points into pieces of almost that many ids, each
    with decisions of its own. A piece that would grow beyond it by its cuts stays as it is. Empty texts are counted
    as discarded; `kinds` counts the lists as fim_psm, fim_spm, fim_none.
    """
    decisions = decisions or KeyedDecisions(settings.seed, settings.fim_rate, settings.spm_rate)
    transform = _DocumentTransform(tokenizer, settings, statistics, decisions)
    batch: list[tuple[str, str]] = []
    characters = 0
    for identity, raw in documents:
        text = clean(raw, cleaning or CleaningSettings())
        statistics.processed_files += 1
        statistics.add_text(raw, text)
        if not text:
            statistics.discard_document("empty_text")
            continue
        batch.append((identity, text))
        characters += len(text)
        if characters >= BATCH_CHARACTERS:
            yield transform.lists(batch)
            batch, characters = [], 0
    if batch:
        yield transform.lists(batch)


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
    def __init__(
        self, tokenizer: Tokenizer, settings: FIMSettings, statistics: Statistics, decisions: Decisions
    ) -> None:
        self._tokenizer = tokenizer
        self._statistics = statistics
        self._decisions = decisions
        self._control = ControlIds.of(tokenizer, settings)
        self._length = settings.sequence_length
        # Three control ids, and a few more that come from cutting inside tokens.
        self._piece = self._length - self._control.begin.size - 3 - self._length // 32

    def lists(self, documents: Sequence[tuple[str, str]]) -> Ragged:
        """The lists of the documents, in order."""
        whole = [_Unit(identity, 0, text) for identity, text in documents]
        tried = iter(self._encode([unit for unit in whole if self._may_fit(unit)]))
        results = [next(tried) if self._may_fit(unit) else None for unit in whole]
        long = [unit for unit, result in zip(whole, results, strict=True) if not self._fits(result)]
        pieces = [self._pieces(unit) for unit in long]
        encoded = iter(self._fitting([piece for group in pieces for piece in group]))
        groups = iter([[next(encoded) for _ in group] for group in pieces])
        kept = [[result] if result and self._fits(result) else next(groups) for result in results]
        chosen = [result for group in kept for result in group]
        self._statistics.kinds.update(kind for kind, _ in chosen)
        return Ragged.of(ids for _, ids in chosen)

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
        encoded = iter(self._tokenizer.encode_plain([part for _, parts in cut for part in parts]))
        return [
            (kind, np.concatenate([self._control.begin, self._control.joined(kind, [next(encoded) for _ in parts])]))
            for kind, parts in cut
        ]

    def _cut(self, unit: _Unit) -> tuple[Kind, list[str]]:
        key = unit.key
        return cut_text(unit.text, key, self._decisions) if self._decisions.applies(key) else ("fim_none", [unit.text])

    def _pieces(self, unit: _Unit) -> list[_Unit]:
        text = unit.text
        sections = (text[i : i + SECTION_CHARACTERS] for i in range(0, len(text), SECTION_CHARACTERS))
        pieces = (piece for section in sections for piece in text_pieces(section, self._tokenizer, self._piece))
        return [_Unit(unit.identity, number, piece) for number, piece in enumerate(pieces)]


def text_pieces(text: str, tokenizer: Tokenizer, size: int) -> Iterator[str]:
    """Pieces of at most `size` ids each, as far as ids have borders between code points; together they are the text."""
    _, starts = tokenizer.encode_offsets(text)
    begin = token = 0
    while token + size < len(starts):
        # One code point may have more ids than a piece has room for.
        end = max(int(starts[token + size]), begin + 1)
        yield text[begin:end]
        begin, token = end, int(np.searchsorted(starts, end))
    if begin < len(text):
        yield text[begin:]
