"""Shared by both levels of fill in the middle: the choices, the control ids, and the cut of a text in three."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from corpus_assets.config.datasets.modes import FIMDataset
from corpus_assets.tokenize.named_tokens import token_id
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError
from resources.hashing import keyed_hash

Kind = Literal["fim_none", "fim_psm", "fim_spm"]


class Decisions(Protocol):
    """The random choices; `key` is what is decided about, and says nothing to a recording."""

    def applies(self, key: bytes) -> bool:
        """True if the text is transformed."""

    def cuts(self, key: bytes, characters: int) -> tuple[int, int]:
        """Returns where the middle begins and ends, 0 <= begin <= end <= characters."""

    def suffix_first(self, key: bytes) -> bool:
        """True if it is written as SPM."""


@dataclass(frozen=True)
class KeyedDecisions:
    """Choices that depend on the seed and the key only, whatever was decided before."""

    seed: int
    fim_rate: float
    spm_rate: float

    @classmethod
    def of(cls, section: FIMDataset) -> "KeyedDecisions":
        """Returns the choices of a dataset."""
        return cls(section.seed, section.fim_rate, section.spm_rate)

    def applies(self, key: bytes) -> bool:
        """True for the share `fim_rate` of all keys."""
        return keyed_hash("fim", self.seed, key) < self.fim_rate * 2**64

    def cuts(self, key: bytes, characters: int) -> tuple[int, int]:
        """Returns two uniform places, in order."""
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
    def of(cls, tokenizer: Tokenizer, section: FIMDataset) -> "ControlIds":
        """Raises ConfigError for a token that the vocabulary does not have, or without an end-of-text id."""
        if tokenizer.eos_id is None:
            raise ConfigError("the tokenizer has no end-of-text id; valid with FIM: one that has, or a given eos")
        begins = tokenizer.bos_by_setting if section.reference else tokenizer.adds_bos
        begin = [tokenizer.bos_id] if begins and tokenizer.bos_id is not None else []
        names = ("prefix_token", "middle_token", "suffix_token")
        parts = ([token_id(tokenizer, name, getattr(section, name))] for name in names)
        return cls(*(np.array(ids, np.int32) for ids in (begin, *parts, [tokenizer.eos_id])))

    def joined(self, kind: Kind, parts: Sequence[Ids]) -> Ids:
        """Returns prefix, middle and suffix in the order of the kind; of `fim_none` the only part."""
        if kind == "fim_none":
            return np.concatenate(parts)
        prefix, middle, suffix = parts
        if kind == "fim_psm":
            return np.concatenate([self.prefix, prefix, self.suffix, suffix, self.middle, middle])
        return np.concatenate([self.prefix, self.suffix, suffix, self.middle, prefix, middle])


def encode_for_rows(texts: Sequence[str], tokenizer: Tokenizer) -> Ragged:
    """Returns the ids of parts of texts as Cerebras' Model Zoo encodes them."""
    ids = tokenizer.encode_batch(texts)
    return ids.without_firsts() if turns_bos_off(tokenizer) else ids


def turns_bos_off(tokenizer: Tokenizer) -> bool:
    """Returns whether Cerebras' Model Zoo has the tokenizer put no begin-of-text id before a text in FIM.

    It turns the setting off; a tokenizer of the tokenizers library goes by its file alone, and puts the id there still.
    """
    return tokenizer.bos_by_setting and tokenizer.adds_bos and tokenizer.kind == "huggingface"


def cut_text(text: str, key: bytes, decisions: Decisions) -> tuple[Kind, list[str]]:
    """Returns the kind, and prefix, middle and suffix of a text that is transformed. Cuts are between code points."""
    begin, end = decisions.cuts(key, len(text))
    parts = [text[:begin], text[begin:end], text[end:]]
    return "fim_spm" if decisions.suffix_first(key) else "fim_psm", parts
