"""The words of a language model by hash, in mapped scratch files: their number is not bounded by memory."""

import mmap
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from corpus_assets.language_models.grams import BEGIN_HASH, END_HASH, Words, word_hash
from corpus_assets.language_models.tokens import BEGIN, END
from resources.errors import CorpusError
from resources.hashing import keyed_hash
from resources.spill import Buckets, Spill

_ROW: Final = np.dtype([("hash", "<u8"), ("check", "<u8"), ("start", "<u8"), ("end", "<u8")])
_BITS, _BLOCK = 8, 1 << 12
_GIVEN: Final = {BEGIN_HASH: BEGIN.encode(), END_HASH: END.encode()}


class Vocabulary:
    """Words that are found again by their hashes.

    words: each any number of times; those of a line's begin and end are there without them. memory: bytes that a buffer
    may use. spill: opens scratch files, which are closed at the end of the `with` block. `CorpusError` for two words
    with one hash, which a second hash tells apart.
    """

    def __init__(self, words: Iterable[str], memory: int, spill: Spill) -> None:
        self._open = ExitStack()
        with self._open:
            texts, hashes, places = (self._open.enter_context(spill()) for _ in range(3))
            with Buckets(1 << _BITS, _ROW, memory, spill) as buckets:
                for rows in _blocks(words, texts):
                    buckets.append((rows["hash"] >> np.uint64(64 - _BITS)).astype(np.int64), rows)
                for number in range(len(buckets)):
                    rows = _each_once(np.concatenate([np.empty(0, _ROW), *buckets.rows(number)]))
                    hashes.write(rows["hash"].tobytes())
                    places.write(np.stack([rows["start"], rows["end"]], axis=1).tobytes())
            self._texts = self._mapped(texts)
            self._hashes = np.frombuffer(self._mapped(hashes), np.uint64)
            self._places = np.frombuffer(self._mapped(places), np.uint64).reshape(-1, 2)
            self._open = self._open.pop_all()

    def _mapped(self, file: BinaryIO) -> bytes | mmap.mmap:
        file.flush()
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""

    def __enter__(self) -> "Vocabulary":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def __len__(self) -> int:
        return len(self._hashes)

    def named(self, words: Words) -> dict[int, bytes]:
        """Returns the words of n-grams by hash. `CorpusError` for one that is not there."""
        wanted = np.unique(words)
        wanted = wanted[~np.isin(wanted, np.array([*_GIVEN], np.uint64))]
        rows = np.searchsorted(self._hashes, wanted)
        if (rows == len(self)).any() or (self._hashes[rows] != wanted).any():
            raise CorpusError("n-grams have a word that is in no list of words; build them again")
        texts = (bytes(self._texts[start:end]) for start, end in self._places[rows].tolist())
        return {**_GIVEN, **dict(zip(wanted.tolist(), texts, strict=True))}


def _blocks(words: Iterable[str], texts: BinaryIO) -> Iterator[NDArray[Any]]:
    """Yields rows of words, whose texts are written."""
    rows: list[tuple[int, int, int, int]] = []
    start = 0
    for word in words:
        text = word.encode()
        texts.write(text)
        rows.append((word_hash(word), keyed_hash("language model", 1, word), start, start + len(text)))
        start += len(text)
        if len(rows) == _BLOCK:
            yield np.array(rows, _ROW)
            rows.clear()
    yield np.array(rows, _ROW)


def _each_once(rows: NDArray[Any]) -> NDArray[Any]:
    """Returns the first row of each word, in the order of hashes."""
    rows = rows[np.argsort(rows["hash"], kind="stable")]
    differs = np.ones(len(rows), np.bool_)
    differs[1:] = rows["hash"][1:] != rows["hash"][:-1]
    if (rows["check"][1:] != rows["check"][:-1])[~differs[1:]].any():
        raise CorpusError("two words have one hash")
    return rows[differs]
