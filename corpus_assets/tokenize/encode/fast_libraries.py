"""gigatoken and fastokens behind one function from texts to ids, for one tokenizer."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module

import numpy as np

from corpus_assets.tokenize.encode.cuts import around
from corpus_assets.tokenize.encode.unicode_tables import UnlikeCharacters, unlike_characters
from corpus_assets.tokenize.ragged import Ragged
from corpus_assets.tokenize.tokenizers.files import Json
from corpus_assets.tokenize.tokenizers.library import LibraryBackend
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import JobTimeoutError

RELOAD_CHARACTERS = 1 << 26
RELOAD_MEMORY = 1 << 29
MOST_LIBRARIES = 4
Texts = Sequence[str] | Sequence[bytes]
"""Texts, or their UTF-8."""
_Encode = Callable[[Texts], Ragged]
_LOADED: dict[tuple[str, str], "FastLibrary"] = {}


class UnusableError(Exception):
    """A library cannot be used for a tokenizer; the message says why."""


class FastLibrary:
    """A fast library with one tokenizer, for texts in which control tokens are plain and for those where they count.

    gigatoken keeps every word it has seen: about ten bytes of memory per character of new words, without a bound
    (fastokens stays within 0.3 GB). So a library is loaded again when the process has grown by `RELOAD_MEMORY` bytes,
    at most once in `RELOAD_CHARACTERS` characters.

    probed, fault: number of probe texts that were compared, None before, and the first difference among them.
    reads_utf8: whether it takes UTF-8 as well as text, without making text of it.
    unlike: the characters whose texts the library must not encode; searched for on first use.
    """

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self.name = name
        self.probed: int | None = None
        self.fault: str | None = None
        self.reads_utf8 = name in _READS_UTF8
        self._load = _LOADERS[name]
        self._plain, self._matching = _definitions(tokenizer)
        if (marks := around(tokenizer)) is None:
            raise UnusableError("the ids of a text do not hold its plain ids")
        self._before, self._after = marks
        self._encoders: dict[str, _Encode] = {}
        self._seen = self._memory = 0

    @cached_property
    def unlike(self) -> UnlikeCharacters:
        """Returns the characters that library and reference may treat differently. Raises UnusableError if it fails."""
        with _usable():
            return unlike_characters(self.name, self._load, self._plain)

    def encode_batch(self, texts: Texts) -> Ragged:
        """Returns the ids of `Tokenizer.encode_batch`. Raises UnusableError when the library fails."""
        return put_around(self._encode(self._matching or self._plain, texts), self._before, self._after)

    def encode_plain(self, texts: Texts) -> Ragged:
        """Returns the ids of `Tokenizer.encode_plain`. Raises UnusableError when the library fails."""
        return self._encode(self._plain, texts)

    def _encode(self, definition: str, texts: Texts) -> Ragged:
        if self._seen > RELOAD_CHARACTERS:
            self._seen = 0
            if _memory() > self._memory + RELOAD_MEMORY:
                self._encoders.clear()
        self._seen += sum(map(len, texts))
        with _usable():
            if definition not in self._encoders:
                self._memory = _memory()
                self._encoders[definition] = self._load(definition)
            return self._encoders[definition](texts)


@contextmanager
def _usable() -> Iterator[None]:
    """Raises UnusableError for a failure of the library inside."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError, JobTimeoutError):
        raise
    except BaseException as error:  # a panic of the library is no Exception
        raise UnusableError(f"{type(error).__name__}: {str(error)[:300]}") from error


def _memory() -> int:
    import psutil

    return int(psutil.Process().memory_info().rss)


def fast_library(name: str, tokenizer: Tokenizer) -> FastLibrary:
    """Returns the library for the tokenizer, the same object for equal tokenizers; the process keeps the last few.

    Raises UnusableError when the tokenizer has no `tokenizer.json`.
    """
    key = name, tokenizer.encoding_digest
    fast = _LOADED.pop(key, None) or FastLibrary(name, tokenizer)
    _LOADED[key] = fast
    if len(_LOADED) > MOST_LIBRARIES:
        del _LOADED[next(iter(_LOADED))]
    return fast


def encoded_by(name: str, definition: str, texts: Sequence[str]) -> Ragged:
    """Returns the ids that a library gives under a `tokenizer.json`. Raises UnusableError when the library fails."""
    with _usable():
        return _LOADERS[name](definition)(texts)


def put_around(ragged: Ragged, before: Sequence[int], after: Sequence[int]) -> Ragged:
    """Returns every list with the ids `before` and `after` it."""
    if not before and not after:
        return ragged
    lists = np.arange(len(ragged) + 1)
    offsets = ragged.offsets + lists * (len(before) + len(after))
    ids = np.empty(offsets[-1], np.int32)
    marks = np.zeros(len(ids), bool)
    for position, id_ in enumerate(before):
        marks[places := offsets[:-1] + position] = True
        ids[places] = id_
    for position, id_ in enumerate(reversed(after), 1):
        marks[places := offsets[1:] - position] = True
        ids[places] = id_
    ids[~marks] = ragged.ids
    return Ragged(ids, offsets)


def _definitions(tokenizer: Tokenizer) -> tuple[str, str | None]:
    """Returns `tokenizer.json` for plain text; and the one for `encode_batch`, if that matches control tokens."""
    backend = tokenizer.backend if isinstance(tokenizer, LoadedTokenizer) else None
    if not isinstance(tokenizer, LoadedTokenizer) or not isinstance(backend, LibraryBackend):
        raise UnusableError("the tokenizer has no tokenizer.json")
    matching = _bare(backend.original, special=True) if tokenizer.match_special_tokens else None
    return _bare(json.loads(backend.definition), special=False), matching


def _bare(definition: Json, special: bool) -> str:
    """Returns the definition without post-processor; `special`: with the control tokens, which are then matched."""
    added = [token for token in definition.get("added_tokens") or () if special or not token.get("special")]
    return json.dumps(definition | {"added_tokens": added, "post_processor": None}, ensure_ascii=False)


def _gigatoken(definition: str) -> _Encode:
    encoder = import_module("gigatoken").Tokenizer.from_json(definition).backend

    def encode(texts: Texts) -> Ragged:
        layout = encoder.encode_batch(list(texts), parallel=False).layout
        return Ragged(layout.content.data.view(np.int32), layout.offsets.data)

    return encode


def _fastokens(definition: str) -> _Encode:
    encoder = import_module("fastokens").Tokenizer.from_json_str(definition)

    def encode(texts: Texts) -> Ragged:
        ids, offsets = encoder.encode_batch_flat(list(texts))
        return Ragged(np.frombuffer(ids, np.int32), np.frombuffer(offsets, np.int64))

    return encode


_LOADERS: dict[str, Callable[[str], _Encode]] = {"gigatoken": _gigatoken, "fastokens": _fastokens}
LIBRARIES = tuple(_LOADERS)
_READS_UTF8 = {"gigatoken"}
