"""Finds places where a text may be cut so that the concatenated ids of the parts are the ids of the whole.

`cut_rules` has the rules, and why they hold. A tokenizer that fits no rule gets no cutter.
"""

import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise

from corpus_assets.config.datasets.options import NormalizationForm
from corpus_assets.tokenize.encode.cut_rules import NORMAL_FORMS, Rule, json_rule, model_rule, steps
from corpus_assets.tokenize.tokenizers.library import LibraryBackend
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from corpus_assets.tokenize.tokenizers.sentencepiece_model import SentencePieceBackend

PIECE_CHARACTERS = 1 << 20
LONGEST_PIECE = 1 << 22


@dataclass(frozen=True)
class Cutter:
    """Safe places of one tokenizer.

    rule: where a cut is safe but for added tokens. added: contents of added tokens; a cut touches none of them, in the
    text or in its normal `form`. A part that is not the first starts with the `lead` characters of the text before it;
    their ids are taken off again.
    """

    rule: Rule
    added: frozenset[str] = frozenset()
    form: NormalizationForm | None = None

    @property
    def lead(self) -> int:
        """Number of characters of the previous text that a part starts with."""
        return self.rule.lead

    def place(self, text: str, start: int, end: int) -> int | None:
        """Returns a safe place from start > 0 up to end, the first of the best kind; None if there is none."""
        return next((place for place in self.rule.find(text, start, end) if not self._touches(text, place)), None)

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.added), default=0)

    def _touches(self, text: str, place: int) -> bool:
        """True if an added token ends, starts or lies at the place."""
        # A composed character is made of at most four.
        reach = 4 * self._longest if self.form else self._longest
        left, right = text[max(0, place - reach) : place], text[place : place + reach]
        if self.form is None or _touch(left, right, self.added):
            return _touch(left, right, self.added)
        left, right = (unicodedata.normalize(self.form, side) for side in (left, right))
        return _touch(left, right, self.added)


def _touch(left: str, right: str, tokens: frozenset[str]) -> bool:
    both, middle = left + right, len(left)
    return any(both.find(token, max(0, middle - len(token)), middle + len(token)) >= 0 for token in tokens)


def cut_places(
    text: str, cutter: Cutter | None, size: int = PIECE_CHARACTERS, longest: int = LONGEST_PIECE
) -> list[int] | None:
    """Returns safe places about `size` characters apart; None where more than `longest` characters have no safe place.

    A text of up to `longest` characters stays whole if sums may differ in its parts (`Rule.summed`). The text is
    searched up to the first stretch without a place, so the time is linear.
    """
    if cutter and cutter.rule.summed and len(text) <= longest:
        return []
    places: list[int] = []
    start = 0
    while len(text) - start > size:
        place = cutter.place(text, start + size, min(start + longest, len(text))) if cutter else None
        if place is None:
            return None if len(text) - start > longest else places
        places.append(place)
        start = place
    return places


def pieces(text: str, places: Sequence[int], lead: int = 0) -> Iterator[str]:
    """Yields the text cut at the places, in order; all but the first with `lead` characters of the one before."""
    return (text[max(0, start - lead) : end] for start, end in pairwise([0, *places, len(text)]))


def parts_to_train_on(text: str) -> Iterator[str]:
    """Yields a text in parts of about `PIECE_CHARACTERS` that have the words of the whole, for byte-level training.

    A text without places to cut stays whole. The library holds some hundred bytes for each word of what it is given.
    """
    places = cut_places(text, _trained()) if len(text) > PIECE_CHARACTERS else None
    return pieces(text, places or [])


@cache
def _trained() -> Cutter | None:
    """Returns the cutter of the tokenizers that are trained here."""
    words = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
    rule = json_rule({"model": {"type": "BPE"}, "pre_tokenizer": words}, [])
    return Cutter(rule) if rule else None


def safe_cuts(tokenizer: Tokenizer) -> Cutter | None:
    """Returns the cutter of a tokenizer, None if no rule covers its `tokenizer.json` or SentencePiece model."""
    loaded = getattr(tokenizer, "reference", tokenizer)
    backend = getattr(loaded, "backend", None)
    # The definition for plain text may lack control tokens, but no cut may touch a matched one.
    if isinstance(backend, LibraryBackend) and getattr(loaded, "match_special_tokens", False):
        return _json_cutter(backend.matched_definition)
    definition = getattr(tokenizer, "definition", None)
    if isinstance(definition, str):
        return _json_cutter(definition)
    if isinstance(backend, SentencePieceBackend):
        return _model_cutter(backend.model, frozenset(backend.special_tokens))
    return None


@lru_cache(maxsize=4)
def _json_cutter(raw: str) -> Cutter | None:
    definition = json.loads(raw)
    added, normalizers = definition.get("added_tokens") or [], steps(definition.get("normalizer"), "normalizers")
    rule = json_rule(definition, normalizers)
    if rule is None:
        return None
    # Such tokens are searched in text that is normalized in ways that `Cutter` does not follow.
    if any(token.get("normalized") for token in added) and any(n["type"] not in NORMAL_FORMS for n in normalizers):
        return None
    forms = [step["type"] for step in normalizers if step["type"] in NORMAL_FORMS]
    return Cutter(rule, frozenset(token["content"] for token in added), forms[0] if forms else None)


@lru_cache(maxsize=4)
def _model_cutter(model: bytes, special: frozenset[str]) -> Cutter | None:
    rule = model_rule(model)
    return Cutter(rule, special) if rule else None


def around(tokenizer: Tokenizer) -> tuple[list[int], list[int]] | None:
    """Returns the ids that `encode_batch` puts before and after every text; None if it changes ids otherwise."""
    whole, plain = tokenizer.encode_batch(["a"]).ids.tolist(), tokenizer.encode_plain(["a"]).ids.tolist()
    for start in range(len(whole) - len(plain) + 1):
        if whole[start : start + len(plain)] == plain:
            return whole[:start], whole[start + len(plain) :]
    return None
