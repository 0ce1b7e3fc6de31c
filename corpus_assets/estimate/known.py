"""The cost of a whole build, if it is known without reading raw files: from records, or the last estimate.

An estimate is kept in the cache folder of the user, for exactly this corpus.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.estimate.estimate import Estimate, estimated
from corpus_assets.estimate.extrapolation import Guess
from corpus_assets.estimate.sample_builds import measured_store, read_shards
from corpus_assets.estimate.sizes import Samples, factors_of
from resources.hashing import content_digest
from resources.planning.planner import Planner
from resources.shards.listing import Listing, Shard
from resources.user.cache import keep, kept

_GROUP: Final = "estimates"


@dataclass(frozen=True)
class Cost:
    """A first build of the raw files as they are now.

    raw, stored: bytes of the raw files, and of all that a build stores of them.
    needed: those of them that are not stored now.
    seconds: of the whole build, with so many workers.
    built: whether records say so, not an estimate.
    """

    raw: int
    seconds: float
    workers: int
    stored: float
    needed: float
    built: bool


class _Kept(msgspec.Struct, frozen=True):
    """What is kept of an estimate: the bytes of the raw files then; seconds and bytes, each with its fixed part."""

    raw: int
    workers: int
    seconds: tuple[float, float]
    stored: tuple[float, float]


def raw_bytes(corpus: Corpus, listing: Listing) -> int:
    """Returns the bytes of the raw files of all sources, and of datasets with files of their own."""
    return sum(shard.bytes for shard in _raw_files(corpus, listing))


def _raw_files(corpus: Corpus, listing: Listing) -> Iterator[Shard]:
    names = {*corpus.settings.sources(), *(one["name"] for one in corpus.settings.inputs())}
    return (shard for shard in listing.shards if shard.source in names)


def known_cost(corpus: Corpus, planner: Planner) -> Cost | None:
    """Returns what a first build of the raw files costs; None if they would have to be read to say it."""
    raw = raw_bytes(corpus, planner.listing)
    if (found := recorded(corpus, planner)) is not None:
        needed = sum(one.bytes.value * one.due for one in found.stages)
        return Cost(raw, found.wall.value, found.workers, found.stored.value, needed, built=True)
    return _from_kept(corpus, planner, raw)


def recorded(corpus: Corpus, planner: Planner) -> Estimate | None:
    """Returns the estimate from records alone; None if there are not some of every stage and of every source.

    Raw files that are not built are taken to be like those of the same source that are.
    """
    if not all(planner.records(stage.name) for stage in corpus.graph if planner.partitions(stage)):
        return None
    read = [shard for shard, _ in read_shards(planner)]
    if {shard.source for shard in _raw_files(corpus, planner.listing)} - {shard.source for shard in read}:
        return None
    stored = measured_store(corpus, planner)
    factors = factors_of(planner.listing, frozenset(shard.key for shard in read))
    return estimated(corpus, planner, Samples(stored, stored, [stored], factors))


def keep_estimate(corpus: Corpus, raw: int, found: Estimate) -> None:
    """Keeps an estimate for `known_cost`. raw: bytes of the raw files it is of."""
    wall, stored = ((one.value, one.fixed) for one in (found.wall, found.stored))
    text = msgspec.json.encode(_Kept(raw, found.workers, wall, stored)).decode()
    keep(_GROUP, _name(corpus), text)


def _from_kept(corpus: Corpus, planner: Planner, raw: int) -> Cost | None:
    try:
        found = msgspec.json.decode(kept(_GROUP, _name(corpus)) or "", type=_Kept)
    except msgspec.DecodeError:  # none, or one of another version
        return None
    seconds, stored = (_at(Guess(*one), raw / max(1, found.raw)) for one in (found.seconds, found.stored))
    there = sum(
        file.bytes for stage in corpus.graph for one in planner.records(stage.name).values() for file in one.files
    )
    return Cost(raw, seconds, found.workers, stored, max(0.0, stored - there), built=False)


def _at(found: Guess, factor: float) -> float:
    """Returns a guess for so many times the raw bytes."""
    return found.fixed + (found.value - found.fixed) * factor


def _name(corpus: Corpus) -> str:
    values = msgspec.json.encode(corpus.settings.values, enc_hook=str)
    return f"{content_digest(str(corpus.file.resolve()).encode(), values)[:32]}.json"
