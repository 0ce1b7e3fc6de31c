"""A phrase in texts, with the index and without: `python -m benchmarks.text_index`.

Made-up documents, whose words are as often as those of a language (Zipf), are read, normalized and indexed by the
stages of a build. Then phrases of five words, taken from documents here and there, are searched one after another, as
the search of the viewer does it, up to the first fifty documents. Two sizes tell how the time grows. The files are in
the page cache when they are searched.
"""

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.printed import printed
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.filter.assets import READ
from corpus_assets.text_index.assets import NAME
from corpus_assets.tracing.finding import Sought, find_documents
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.tables import count_of, text_at

SIZES, QUICK_SIZES = (2_000, 10_000), (4, 16)
FILE_MEGABYTES = 50
WORDS, WORDS_OF_DOCUMENT = 200_000, 500
PHRASES, UNINDEXED = 40, 3
LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)


def write_raw(folder: Path, megabytes: int) -> None:
    """Writes documents in files of up to 50 MB."""
    chance = np.random.default_rng(megabytes)
    words = ["".join(map(chr, chance.choice(LETTERS, chance.integers(2, 11)))) for _ in range(WORDS)]
    folder.mkdir(parents=True)
    left, number = megabytes * 1_000_000, 0
    while left > 0:
        room = min(left, FILE_MEGABYTES * 1_000_000)
        left -= room
        with (folder / f"part-{number:04}.jsonl").open("w", encoding="utf-8") as file:
            row = 0
            while room > 0:
                ranks = (WORDS ** chance.random(WORDS_OF_DOCUMENT)).astype(np.int64) - 1
                text = " ".join(words[rank] for rank in ranks.tolist())
                room -= file.write(json.dumps({"id": f"{number}-{row}", "text": text}) + "\n")
                row += 1
        number += 1


def built(folder: Path, megabytes: int) -> tuple[Corpus, float]:
    """Returns a corpus with an index, and how long that took to build alone."""
    write_raw(folder / "raw", megabytes)
    values = {
        "search_index": True,
        "sources": [{"name": "made", "location": "raw"}],
        "datasets": [],
        "engine": {"workers": 0},
        "storage": {"sync": False},
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    corpus = Corpus.open(folder / "corpus.yaml")
    took = 0.0
    for stage in corpus.graph.select([f"+{NAME}"]):
        due = list(corpus.planner().decisions(stage))
        started = time.monotonic()
        for outcome in Step(corpus, stage, due).run():
            if outcome.error is not None:
                raise AssertionError(f"{outcome.name}: {outcome.error}")
        took = time.monotonic() - started
    return Corpus.open(folder / "corpus.yaml", read_only=True), took


def searched(corpus: Corpus, phrases: list[str]) -> list[float]:
    """Returns the seconds of each search; every phrase must be found."""
    times = []
    for phrase in phrases:
        started = time.monotonic()
        found = find_documents(Look(corpus, compared=False), Sought(piece=phrase), limit=50, seconds=3600)
        times.append(time.monotonic() - started)
        if not found.found:
            raise AssertionError(f"{phrase!r} was not found")
    return times


def phrases_of(corpus: Corpus) -> list[str]:
    """Phrases of five words, from documents all over the corpus."""
    shards, chance = Look(corpus, compared=False).partitions(READ), np.random.default_rng(5)
    found = []
    for number in range(PHRASES):
        made = shards[number * len(shards) // PHRASES]
        words = text_at(made, int(chance.integers(count_of(made)))).split(" ")
        start = int(chance.integers(len(words) - 5))
        found.append(" ".join(words[start : start + 5]))
    return found


def figures(quick: bool) -> dict[str, Any]:
    """Times and sizes for each size of texts."""
    found: dict[str, Any] = {}
    for megabytes in QUICK_SIZES if quick else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            corpus, took = built(Path(folder), megabytes)
            phrases = phrases_of(corpus)
            searched(corpus, phrases[:2])
            times = searched(corpus, phrases)
            stored = sum(file.bytes for record in corpus.records(NAME).values() for file in record.files)
            name = f"search_of_{megabytes}_mb"
            found[f"{name}_median_ms"] = round(1000 * float(np.median(times)), 1)
            found[f"{name}_worst_ms"] = round(1000 * max(times), 1)
            found[f"{name}_index_mb"] = round(stored / 1e6, 1)
            found[f"{name}_index_mb_per_s"] = round(megabytes / took, 1)
            without = Corpus.open(Path(folder) / "corpus.yaml", ["search_index=false"], read_only=True)
            slow = searched(without, phrases[-UNINDEXED:])
            found[f"{name}_without_index_median_ms"] = round(1000 * float(np.median(slow)))
    return found


if __name__ == "__main__":
    printed(__doc__, figures)
