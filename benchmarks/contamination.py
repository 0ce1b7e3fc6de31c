"""Search for benchmark items, in MB of text per CPU-second on one core: `python -m benchmarks.contamination`.

Everything between a text and its hits counts: its words, their n-grams, and the look at the index of 100,000 items.
The items are made of pieces of the same texts, three words at a time, so that n-grams are as in real questions and
hits as rare as in a real corpus. Some are planted, and must be found.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.minhash import load_texts
from corpus_assets.config.selection.contamination import Contamination
from corpus_assets.contamination.index import Index, Rules, build_index, word_hashes
from corpus_assets.contamination.search import Searcher

ITEMS = 100_000
FEWEST, MOST = 8, 110
PIECE = 3
MEGABYTES, QUICK_MEGABYTES = 48, 2
ROUNDS = 3
PLANTS = 50


def items(texts: Sequence[str]) -> Iterator[str]:
    """Made-up questions of 8 to 110 words separated by whitespace."""
    chance = random.Random("items")
    words = [word for text in texts[:2000] for word in text.split() if word.isascii()]
    for _ in range(ITEMS):
        count = chance.randint(FEWEST, MOST)
        starts = [chance.randrange(len(words) - PIECE) for _ in range(0, count, PIECE)]
        yield " ".join(" ".join(words[start : start + PIECE]) for start in starts)


def seconds_of(searcher: Searcher, texts: Sequence[str]) -> tuple[float, int]:
    """CPU seconds of one pass, the least of several rounds, and the texts with hits."""
    searcher.find(texts[0])
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        touched = sum(len(searcher.find(text)) > 0 for text in texts)
        times.append(time.process_time() - started)
    return min(times), touched


def figures_of(texts: Sequence[str]) -> dict[str, float]:
    """Speed of the search, CPU seconds and size of the index, and how many texts have a hit."""
    rules = Contamination()
    chosen = Rules(rules.ngram, rules.piece, rules.punctuation, rules.item_limit, rules.item_share, rules.fewest)
    asked = list(items(texts))
    word_hashes("", chosen.punctuation)
    started = time.process_time()
    hashes = [word_hashes(item, chosen.punctuation)[0] for item in asked]
    index, _ = build_index(hashes, chosen)
    indexing = time.process_time() - started
    searcher = Searcher(index, chosen)
    searched = [item for item, words in zip(asked, hashes, strict=True) if len(words) >= chosen.shortest]
    planted = [f"{text} {item}" for text, item in zip(texts, searched[:: ITEMS // PLANTS], strict=False)]
    if missed := [text for text in planted if not len(searcher.find(text))]:
        raise AssertionError(f"{len(missed)} of {len(planted)} planted items were not found")
    seconds, touched = seconds_of(searcher, texts)
    return {
        "contamination_mb_per_cpu_s": sum(len(text.encode()) for text in texts) / 1e6 / seconds,
        "contamination_index_cpu_s": indexing,
        "contamination_index_mb": size_of(index) / 1e6,
        "contamination_ngrams": len(index.keys),
        "contamination_texts_touched": touched,
    }


def size_of(index: Index) -> int:
    """Bytes of the arrays."""
    return sum(array.nbytes for array in index)


def measure(quick: bool) -> dict[str, Any]:
    """The figures, and the corpus that they are of."""
    texts, kind = load_texts(QUICK_MEGABYTES if quick else MEGABYTES)
    return {"corpus": kind, **{name: round(value, 2) for name, value in figures_of(texts).items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less text")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = measure(given.quick)
    if given.json:
        print(json.dumps(figures))
    else:
        print(f"{figures.pop('corpus')}, {ITEMS:,} items")
        print("\n".join(f"{name:36}{value:>14,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
