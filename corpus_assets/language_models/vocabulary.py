"""The words of a language model by hash, in mapped scratch files: their number is not bounded by memory."""

import mmap
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from types import TracebackType
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from corpus_assets.language_models.grams import BEGIN_HASH, END_HASH, Words, other_hashes, word_hashes
from corpus_assets.language_models.tokens import BEGIN, END
from resources.errors import CorpusError
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
            texts, hashes, ends, own = (self._open.enter_context(spill()) for _ in range(4))
            with Buckets(1 << _BITS, _ROW, memory, spill) as buckets:
                for rows in _blocks(words, texts):
                    buckets.append((rows["hash"] >> np.uint64(64 - _BITS)).astype(np.int64), rows)
                given = self._mapped(texts)
                ends.write(bytes(8))
                for number in range(len(buckets)):
                    rows = _each_once(np.concatenate([np.empty(0, _ROW), *buckets.rows(number)]))
                    hashes.write(rows["hash"].tobytes())
                    ends.write((own.tell() + np.cumsum(rows["end"] - rows["start"])).astype(np.int64).tobytes())
                    own.writelines(given[start:end] for start, end in rows[["start", "end"]].tolist())
            self._hashes = np.frombuffer(self._mapped(hashes), np.uint64)
            buffers = [None, *(pa.py_buffer(self._mapped(file)) for file in (ends, own))]
            self._texts = pa.Array.from_buffers(pa.large_binary(), len(self), buffers)
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

    def named(self, words: Words) -> tuple[pa.Array, NDArray[np.intp]]:
        """Returns the different words of n-grams, and for each n-gram the rows of its words: (n-grams, length).

        `CorpusError` for one that is not there.
        """
        wanted, rows = np.unique(words, return_inverse=True)
        is_own = ~np.isin(wanted, np.array([*_GIVEN], np.uint64))
        own = wanted[is_own]
        places = np.searchsorted(self._hashes, own)
        if (places == len(self)).any() or (self._hashes[places] != own).any():
            raise CorpusError("n-grams have a word that is in no list of words; build them again")
        named = pa.concat_arrays([self._texts.take(pa.array(places)), pa.array(_GIVEN.values(), pa.large_binary())])
        numbers = np.empty(len(wanted), np.intp)
        numbers[is_own] = np.arange(len(own))
        for number, hash_ in enumerate(_GIVEN, len(own)):
            numbers[wanted == hash_] = number
        return named, numbers[rows].reshape(words.shape)


def _blocks(words: Iterable[str], texts: BinaryIO) -> Iterator[NDArray[Any]]:
    """Yields rows of words, whose texts are written."""
    start, encoded = 0, (word.encode() for word in words)
    while block := [*islice(encoded, _BLOCK)]:
        texts.writelines(block)
        rows = np.empty(len(block), _ROW)
        rows["hash"], rows["check"] = [*word_hashes(block)], [*other_hashes(block)]
        rows["end"] = start + np.cumsum([*map(len, block)])
        rows["start"] = [start, *rows["end"][:-1].tolist()]
        start = int(rows["end"][-1])
        yield rows


def _each_once(rows: NDArray[Any]) -> NDArray[Any]:
    """Returns the first row of each word, in the order of hashes."""
    rows = rows[np.argsort(rows["hash"], kind="stable")]
    differs = np.ones(len(rows), np.bool_)
    differs[1:] = rows["hash"][1:] != rows["hash"][:-1]
    if (rows["check"][1:] != rows["check"][:-1])[~differs[1:]].any():
        raise CorpusError("two words have one hash")
    return rows[differs]
