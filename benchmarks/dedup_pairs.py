"""Pairs of texts with their true similarity: labelled ones of the shared data, and made ones that spread evenly."""

import gzip
import json
import math
import tempfile
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import GENERATOR, write_raw
from corpus_assets.raw.readers import RawFile, RowRules, read_documents
from resources.documents.slimpajama_cleaning import clean
from resources.formats.documents import Document
from resources.hashing import keyed_hash

LABELLED = GENERATOR.parents[1] / "data"
LENGTHS = (300, 20_000)
BINS = np.linspace(0.5, 1.0, 21)
WIDTH = 13
_SPANS = (20, 60, 200, 600)
_TEXT_KEYS = {"cerebras/idea": "idea"}


@dataclass(frozen=True)
class Pairs:
    """Texts, pairs (n, 2) of positions of them, the smaller one first, and the true similarity (n,) of each pair."""

    texts: list[str]
    pairs: NDArray[np.uint32]
    truth: NDArray[np.float64]


def shingles(text: str) -> set[str]:
    """The definition: all windows of 13 code points of the cleaned text."""
    cleaned = clean(text)
    return {cleaned[start : start + WIDTH] for start in range(len(cleaned) - WIDTH + 1)}


def jaccard(left: set[str], right: set[str]) -> float:
    common = len(left & right)
    return common / max(len(left) + len(right) - common, 1)


def labelled_pairs(every: int) -> Pairs:
    """Every so many-th labelled pair, of NFC texts; none when the shared data is not beside the checkout.

    The truth is measured on the texts: labels of pairs with rows of the manual pages name other rows than are there.
    """
    path = LABELLED / "pairs" / "near_duplicates.jsonl.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines() if path.is_file() else []
    rows = [json.loads(line) for line in lines[::every]]
    keys = sorted({(row[side]["file"], row[side]["row"]) for row in rows for side in "ab"})
    texts: list[str] = []
    for file in dict.fromkeys(file for file, _ in keys):
        found = list(_texts(LABELLED, file, _TEXT_KEYS.get(str(Path(file).parent), "text")))
        texts += [found[row] for name, row in keys if name == file]
    position = {key: number for number, key in enumerate(keys)}
    pairs = sorted(sorted(position[row[side]["file"], row[side]["row"]] for side in "ab") for row in rows)
    # A set of strings takes a hundred times its text: only a few are held, and rows come grouped by their first text.
    held = lru_cache(maxsize=16)(lambda number: shingles(texts[number]))
    return _as_arrays(texts, pairs, [jaccard(held(left), held(right)) for left, right in pairs])


def made_pairs(per_bin: int) -> Pairs:
    """Pairs of a document and a copy with spans of another exchanged: so many in each bin of true similarity."""
    texts: list[str] = []
    truth: list[float] = []
    room = np.full(len(BINS) - 1, per_bin)
    pool = _pool()
    for number in range(200 * per_bin):
        open_bins = np.flatnonzero(room)
        if not len(open_bins):
            break
        place = open_bins[_chance("bin", number) % len(open_bins)]
        left, right = _exchanged(pool, number, (BINS[place] + BINS[place + 1]) / 2)
        similarity = jaccard(shingles(left), shingles(right))
        found = int(np.searchsorted(BINS, similarity, side="right")) - 1
        if 0 <= found < len(room) and room[found] and similarity < 1:
            room[found] -= 1
            texts += [left, right]
            truth.append(similarity)
    return _as_arrays(texts, [[start, start + 1] for start in range(0, len(texts), 2)], truth)


def pooled(sets: list[Pairs]) -> Pairs:
    """All pairs as one set."""
    starts = np.cumsum([0, *(len(one.texts) for one in sets[:-1])], dtype=np.uint32)
    pairs = np.concatenate([one.pairs + start for one, start in zip(sets, starts, strict=True)])
    texts = [text for one in sets for text in one.texts]
    return Pairs(texts, pairs, np.concatenate([one.truth for one in sets]))


def _as_arrays(texts: list[str], pairs: list[list[int]], truth: list[float]) -> Pairs:
    return Pairs(texts, np.array(pairs, dtype=np.uint32).reshape(-1, 2), np.array(truth))


def _chance(purpose: str, *parts: int) -> int:
    return keyed_hash(f"dedup quality {purpose}", 1, *parts)


def _pool() -> list[str]:
    """Texts to cut pairs from, each at least as long as the shortest pair."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        sources, _ = write_raw(root, 16)
        found: list[str] = []
        for source in sources:
            place = Path(source["location"]).relative_to("raw").as_posix()
            pattern = source.get("glob", f"{place}/*.jsonl.gz")
            kind = source.get("format", "auto")
            found += _texts(root, pattern, source.get("text_key", "text"), kind)
    return [text for text in dict.fromkeys(found) if len(text) >= LENGTHS[0]]


def _texts(root: Path, pattern: str, text_key: str, kind: str = "auto") -> Iterator[str]:
    """NFC texts of files below `root`, in reading order; that of a bad row is empty."""
    for path in sorted(root.glob(pattern)):

        def opened(path: Path = path) -> BinaryIO:
            return path.open("rb")

        def member(listed: str, path: Path = path) -> BinaryIO:
            return (path.parent / listed).open("rb")

        file = RawFile(path.relative_to(root).as_posix(), opened, member)
        for row in read_documents(file, RowRules("benchmark", format=kind, text_key=text_key)):
            yield unicodedata.normalize("NFC", row.text) if isinstance(row, Document) else ""


def _exchanged(pool: list[str], number: int, target: float) -> tuple[str, str]:
    """A text and a copy of it with a similarity of about `target`; lengths spread evenly over their logarithms."""
    share = _chance("length", number) / 2**64
    length = round(LENGTHS[0] * (LENGTHS[1] / LENGTHS[0]) ** share)
    long_enough = [text for text in pool if len(text) >= length] or [max(pool, key=len)]
    text = _piece(long_enough[_chance("text", number) % len(long_enough)], length, number)
    # With n shingles in each of two sets, of which x differ, the similarity is (n - x) / (n + x).
    budget = len(text) * (1 - target) / (1 + target)
    copy = list(text)
    span = _SPANS[_chance("span", number) % len(_SPANS)]
    place = 0
    while budget > 2 * WIDTH:
        size = max(min(span, math.floor(budget) - WIDTH, len(text) // 4), 1)
        other = pool[_chance("other", number, place) % len(pool)]
        start = _chance("start", number, place) % (len(text) - size + 1)
        copy[start : start + size] = _piece(other, size, _chance("piece", number, place))
        budget -= size + WIDTH - 1
        place += 1
    # What is left is less than one span costs inside the text; at its end every character costs one shingle.
    end = len(copy) - max(math.floor(budget), 1)
    return text, "".join(copy[:end]) + _piece(pool[number % len(pool)], len(copy) - end, number)


def _piece(text: str, length: int, number: int) -> str:
    """So many characters of a text from anywhere in it."""
    start = _chance("piece", number, length) % max(len(text) - length + 1, 1)
    return text[start : start + length]
