"""Fast tokenizer libraries, trusted only where they are proved equal to the reference.

gigatoken and fastokens split and merge as the tokenizers library does, 40 to 150 times as fast, but neither promises
equal ids for every definition. So a fast library must agree on `probe_texts` and on the first documents of a shard
before it is used, and is then compared with the reference on a sample of the documents. A text with a character on
which the Unicode tables of the two differ (`unicode_tables`) always goes to the reference.
"""

import logging
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, Literal, cast

import numpy as np

from corpus_assets.tokenize.encode.fast_libraries import FastLibrary, Texts, UnusableError, fast_library
from corpus_assets.tokenize.encode.probe import probe_texts
from corpus_assets.tokenize.encode.proofs import note, noted
from corpus_assets.tokenize.encode.unicode_tables import utf8_texts
from corpus_assets.tokenize.ragged import Ragged
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError, CorpusError
from resources.hashing import keyed_hash

LibraryName = Literal["auto", "tokenizers", "fastokens", "gigatoken"]
LIBRARIES: tuple[LibraryName, ...] = ("auto", "tokenizers", "fastokens", "gigatoken")
FIRST_CHARACTERS = 1 << 16
LONGEST_CHECKED = 1 << 16
# The reference is about 100 times slower, so this share of the characters costs less than a tenth of the time.
CHECKED_SHARE = 1 / 1024
# Characters that may be checked at the start, and that must be saved up, so that long texts are checked too.
FIRST_CREDIT, LEAST_CREDIT = 1 << 14, 1 << 10
MOST_SPECIAL_TOKENS = 300
EXCERPT = 200
_FAST = ("gigatoken", "fastokens")
_Encode = Callable[[Texts], Ragged]
_Reference = Callable[[Sequence[str]], Ragged]
_LOG = logging.getLogger(__name__)


class _DiffersError(UnusableError):
    """A fast library gave other ids on the texts of its proof."""


class BackendDiffers(CorpusError):  # noqa: N818 - it is an order to the caller, not a fault
    """A fast library gave other ids than the reference; the shard must be made again with the reference."""


def accelerate(tokenizer: Tokenizer, backend: LibraryName, first_texts: Sequence[str]) -> "Accelerated":
    """Returns the tokenizer with the fastest library that gives equal ids on probe texts and on `first_texts`.

    backend: `auto` tries gigatoken, then fastokens, else uses the reference (`tokenizers`). A named library must be
    installed, support the definition, and give equal ids; otherwise ConfigError.

    A library is loaded and warmed once per process and tokenizer, and probed once on a machine; `first_texts` are
    compared up to `FIRST_CHARACTERS`. Ids do not depend on the choice: a difference that shows up later raises
    BackendDiffers.
    """
    if backend not in LIBRARIES:
        raise ConfigError(f"tokenizer backend is {backend!r}; valid: {', '.join(LIBRARIES)}")
    faults = []
    differs: str | None = None
    for name in _FAST if backend == "auto" else () if backend == "tokenizers" else (backend,):
        try:
            return _proved(tokenizer, fast_library(name, tokenizer), first_texts)
        except UnusableError as fault:
            if backend != "auto":
                raise ConfigError(f"tokenizer backend {name} cannot be used: {fault}") from fault
            _LOG.info("tokenizer backend %s is not used: %s", name, fault)
            faults.append(f"{name}: {fault}")
            differs = differs or (f"{name}: {fault}" if isinstance(fault, _DiffersError) else None)
    not_faster = "; ".join(fault.splitlines()[0] for fault in faults) or None
    return Accelerated(tokenizer, None, not_faster=not_faster, differs=differs)


def _proved(tokenizer: Tokenizer, fast: FastLibrary, first_texts: Sequence[str]) -> "Accelerated":
    """Raises UnusableError with the first difference."""
    if fast.probed is None:
        fast.probed = noted(fast.name, tokenizer) or _probe(tokenizer, fast)
    try:
        unlike = {*fast.unlike.among(first_texts, utf8_texts(first_texts))}
    except UnusableError as failure:
        fast.fault = fast.fault or str(failure)
        raise
    first = _first([text for place, text in enumerate(first_texts) if place not in unlike])
    if fault := fast.fault or _compare(fast, tokenizer, first):
        _LOG.info("%s differs from the tokenizers library: %s", fast.name, fault)
        raise _DiffersError(fault)
    return Accelerated(tokenizer, fast, first=len(first))


def _probe(tokenizer: Tokenizer, fast: FastLibrary) -> int:
    """Returns the number of probe texts, and records the first difference, or that there is none."""
    texts = probe_texts([*tokenizer.special_tokens][:MOST_SPECIAL_TOKENS])
    fast.fault = _compare(fast, tokenizer, texts)
    if fast.fault is None:
        note(fast.name, tokenizer, len(texts))
    return len(texts)


def _first(texts: Sequence[str]) -> list[str]:
    """Returns as much of the texts as the characters allow."""
    room, taken = FIRST_CHARACTERS, []
    for text in texts:
        if room > 0:
            taken.append(text[:room])
            room -= len(text)
    return taken


def _compare(fast: FastLibrary, reference: Tokenizer, texts: Sequence[str]) -> str | None:
    """Returns the first difference in words: of `encode_batch`, or of `encode_plain`."""
    return difference(texts, fast.encode_batch(texts), reference.encode_batch(texts)) or difference(
        texts, fast.encode_plain(texts), reference.encode_plain(texts)
    )


def difference(texts: Sequence[str], ours: Ragged, theirs: Ragged) -> str | None:
    """Returns the first text with different ids, and the surroundings of the first one; None if all are equal."""
    if np.array_equal(ours.offsets, theirs.offsets) and np.array_equal(ours.ids, theirs.ids):
        return None
    for text, mine, other in zip(texts, ours, theirs, strict=True):
        if not np.array_equal(mine, other):
            shorter = min(len(mine), len(other))
            unequal = np.flatnonzero(mine[:shorter] != other[:shorter])
            first = int(unequal[0]) if unequal.size else shorter
            shown = slice(max(0, first - 3), first + 5)
            excerpt = repr(text if len(text) <= EXCERPT else text[:EXCERPT] + "\N{HORIZONTAL ELLIPSIS}")
            return f"id {first} of text {excerpt}: {mine[shown].tolist()}, expected {other[shown].tolist()}"
    return f"{len(ours)} lists of ids for {len(texts)} texts"


class Accelerated:
    """A `Tokenizer` that differs from the reference only in the speed of `encode_batch` and `encode_plain`.

    It does not inherit from the protocol, whose members would hide those of the reference.
    """

    def __init__(
        self,
        reference: Tokenizer,
        fast: FastLibrary | None,
        *,
        first: int = 0,
        not_faster: str | None = None,
        differs: str | None = None,
    ) -> None:
        self.reference = reference
        self._fast = fast
        self._first = first
        self._not_faster = not_faster
        self._differs_by = differs
        self._batches = self._checked_documents = self._checked_bytes = self._unlike_documents = 0
        self._credit = float(FIRST_CREDIT)

    def report(self) -> dict[str, Any]:
        """Returns which library was used and how it was checked, for the ledger.

        `backend` and its `version`; `probe_texts` and `first_texts` that were equal before the shard;
        `checked_documents` and their UTF-8 `checked_bytes` all through it; `unlike_documents` that the reference
        encoded for their characters; `not_faster` = why no faster one, or None; `fell_back` = the difference for which
        the reference is used, or None.
        """
        reference = "tokenizers" if getattr(self.reference, "definition", None) else "sentencepiece"
        name = self._fast.name if self._fast else reference
        return {
            "backend": name,
            "version": version(name),
            "probe_texts": self._fast.probed if self._fast else 0,
            "first_texts": self._first,
            "checked_documents": self._checked_documents,
            "checked_bytes": self._checked_bytes,
            "unlike_documents": self._unlike_documents,
            "not_faster": self._not_faster,
            "fell_back": self._differs_by,
        }

    def encode_batch(self, texts: Sequence[str]) -> Ragged:
        """See `Tokenizer.encode_batch`. Raises BackendDiffers if the library is found to differ."""
        if self._fast is None:
            return self.reference.encode_batch(texts)
        return self._divided(texts, self._fast, self._fast.encode_batch, self.reference.encode_batch)

    def encode_plain(self, texts: Sequence[str]) -> Ragged:
        """See `Tokenizer.encode_plain`. Raises BackendDiffers if the library is found to differ."""
        if self._fast is None:
            return self.reference.encode_plain(texts)
        return self._divided(texts, self._fast, self._fast.encode_plain, self.reference.encode_plain)

    def _divided(self, texts: Sequence[str], fast: FastLibrary, encode: _Encode, reference: _Reference) -> Ragged:
        """Returns the ids; the reference encodes texts with a character that the library may treat differently."""
        stored = utf8_texts(texts)
        given: Sequence[str | bytes | None] = stored if fast.reads_utf8 else texts
        unlike = fast.unlike.among(texts, stored)
        if not unlike:
            return self._checked(texts, cast(Texts, given), encode, reference)
        self._unlike_documents += len(unlike)
        slow = dict(zip(unlike, reference([texts[place] for place in unlike]), strict=True))
        others = [place for place in range(len(texts)) if place not in slow]
        fast_texts = [texts[place] for place in others]
        fast_given = cast(Texts, [given[place] for place in others])
        rest = iter(self._checked(fast_texts, fast_given, encode, reference) if others else ())
        return Ragged.of([slow[place] if place in slow else next(rest) for place in range(len(texts))])

    def _checked(self, texts: Sequence[str], given: Texts, encode: _Encode, reference: _Reference) -> Ragged:
        """Returns the ids, after comparing a text chosen by a keyed hash if the share of checked text allows it.

        given: the texts in the library's form.
        """
        try:
            ids = encode(given)
        except UnusableError as fault:
            raise self._differs(str(fault)) from fault
        self._credit = min(self._credit + CHECKED_SHARE * sum(map(len, texts)), LONGEST_CHECKED)
        self._batches += 1
        picked = keyed_hash("tokenizer check", 0, self._batches) % max(1, len(texts))
        if texts and self._credit >= LEAST_CREDIT:
            text = texts[picked][: int(self._credit)]
            ours = Ragged.of([ids[picked]]) if len(text) == len(texts[picked]) else encode([text])
            self._credit -= len(text)
            if found := difference([text], ours, reference([text])):
                raise self._differs(found)
            self._checked_documents += 1
            self._checked_bytes += len(text.encode())
        return ids

    def _differs(self, found: str) -> BackendDiffers:
        name = self._fast.name if self._fast else ""
        _LOG.info("%s differs from the tokenizers library: %s", name, found)
        return BackendDiffers(f"{name} {version(name)}: {found}")

    def with_token(self, token: str) -> Tokenizer:
        """Returns this one if it has the token, else the reference with it."""
        return cast(Tokenizer, self) if self.token_id(token) is not None else self.reference.with_token(token)

    @property
    def after_control(self) -> Tokenizer:
        """See `Tokenizer.after_control`: this one, unless the reference has another."""
        other = self.reference.after_control
        return cast(Tokenizer, self) if other is self.reference else other

    def __getattr__(self, name: str) -> Any:
        """Returns all other members of a `Tokenizer` from the reference."""
        return getattr(self.reference, name)
