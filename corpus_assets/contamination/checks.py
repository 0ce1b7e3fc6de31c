"""Checks that train holds no more items of the benchmarks than the configuration allows."""

from collections.abc import Sequence
from functools import partial
from inspect import getdoc

import dagster as dg

from corpus_assets.checking import Built, asset_key, current_partitions, result
from corpus_assets.contamination.items import ItemRow, decode_item
from corpus_assets.contamination.shares import Shares, shares_in
from resources.stage.partition import Partition

BENCHMARKS_IN_TRAIN = "benchmarks_in_train"
_SHOWN = 3


def benchmarks_in_train(corpus: Built) -> list[dg.AssetChecksDefinition]:
    """Searches decontaminated train, after all removals, for the items of the benchmarks.

    At most a share `contamination.allowed` of each benchmark's items may occur in documents with a share of
    `contamination.share` or more. It is a check of both train and the report, since either may change alone; chunks
    that were searched are not searched again.
    """
    known: dict[tuple[str, ...], dg.AssetCheckResult] = {}

    def check() -> dg.AssetCheckResult:
        found_of = {name: current_partitions(corpus, name) for name in ("benchmark_ngrams", "boilerplate_ngrams")}
        if missing := [name for name, partitions in found_of.items() if not partitions]:
            return result([f"{name} does not exist yet" for name in missing], {})
        (ngrams,), (boilerplate,) = found_of.values()
        chunks = current_partitions(corpus, "decontaminated_train")
        state = tuple(partition.record.digest for partition in (ngrams, boilerplate, *chunks))
        if not (known.get(state) and known[state].passed):
            known.clear()
            known[state] = _searched(corpus, chunks, ngrams, boilerplate)
        return known[state]

    described = getdoc(benchmarks_in_train)
    return [
        dg.asset_check(asset=asset_key(asset), name=BENCHMARKS_IN_TRAIN, description=described)(check)
        for asset in ("decontaminated_train", "contamination_report")
    ]


def _searched(
    corpus: Built, chunks: Sequence[Partition], ngrams: Partition, boilerplate: Partition
) -> dg.AssetCheckResult:
    search = partial(shares_in, storage=corpus.storage, ngrams=ngrams.record, boilerplate=boilerplate.record)
    largest: dict[int, float] = {}
    faults: list[str] = []
    for found in corpus.spread(search, [chunk.record for chunk in chunks]):
        if isinstance(found, str):
            faults.append(found)
            continue
        for item, share in found.items():
            largest[item] = max(largest.get(item, 0.0), share)
    limits = corpus.settings.values["contamination"]
    rows = [decode_item(line) for line in ngrams.lines()]
    held, over = _judged(rows, largest, limits["share"], limits["allowed"])
    return result([*faults, *over], {"chunks": len(chunks), **held})


def _judged(rows: list[ItemRow], largest: Shares, share: float, allowed: float) -> tuple[dict[str, int], list[str]]:
    """Returns for each benchmark how many items train holds, and a fault for each with too many."""
    held: dict[str, int] = {}
    faults = []
    for name in dict.fromkeys(row.set for row in rows):
        ours = [number for number, row in enumerate(rows) if row.set == name]
        there = sorted((number for number in ours if largest.get(number, -1.0) >= share), key=lambda n: -largest[n])
        held[f"{name}: items held of {len(ours):,}"] = len(there)
        if len(there) > allowed * len(ours):
            shown = ", ".join(f"{rows[number].id!r} ({largest[number]:.2f})" for number in there[:_SHOWN])
            faults.append(
                f"{name}: train holds {len(there):,} of {len(ours):,} items, {len(there) / len(ours):.2%}; "
                f"contamination.allowed is {allowed:.2%}; the most of {shown}"
            )
    return held, faults
