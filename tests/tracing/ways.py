"""Ways of whole corpora, and the counts of the records they must agree with."""

from collections import Counter
from collections.abc import Iterator

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.filter.assets import READ
from corpus_assets.raw.bad_rows import GAPS
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.step import Way
from corpus_assets.tracing.way import way_of

SPLITS = ("train", "holdout", "validation", "test", "decontaminated_train")
ELSEWHERE = {"held_out", "not_held_out", "validation", "test"}
"""Reasons by which a split counts what is in another."""

BEFORE_THE_MIX = {"short_documents", "duplicates"}


def all_ways(look: Look, asset: str = READ) -> Iterator[Way]:
    """The way of every row of every raw file, without a search of HDF5 files."""
    for made in look.partitions(asset):
        gaps = len(made.array(GAPS)) if made.has(GAPS) else 0
        for row in range((made.file(".jsonl.gz").rows or 0) + gaps):
            yield way_of(look, made.key or "", row, seconds=0)


def ends_of(ways: list[Way]) -> Counter[tuple[str, str | None]]:
    """How many rows, documents and uses ended in each stage, as records count them, and how many each split has."""
    found: Counter[tuple[str, str | None]] = Counter()
    for way in ways:
        for step in way.steps:
            if step.status == "dropped" and not step.stage.endswith("_tokens"):
                # The mix counts what attributes keep out of it.
                found["mixed_pass1" if step.stage in BEFORE_THE_MIX else step.stage, step.reason] += 1
            if step.stage in SPLITS and step.status == "here":
                found[step.stage, None] += 1
    return found


def recorded(corpus: Corpus) -> Counter[tuple[str, str | None]]:
    """The same from the commit records."""
    look, found = Look(corpus), Counter[tuple[str, str | None]]()
    for asset in (READ, "filtered_documents", "mixed_pass1", *SPLITS):
        for made in look.partitions(asset):
            for reason, count in made.record.statistics.get("dropped", {}).items():
                if count and reason not in ELSEWHERE:
                    found[asset, reason] += count
            if asset in SPLITS and made.record.statistics["rows_out"]:
                found[asset, None] += made.record.statistics["rows_out"]
    return found
