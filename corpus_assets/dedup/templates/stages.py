"""The assets that find templates: buckets of each file, of each source, shingles of each file, and of each source."""

from collections.abc import Iterator

import numpy as np

from corpus_assets.dedup.documents.numbering import shard_source
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.templates.counting import (
    BUCKET_ROW,
    BUCKETS,
    FEWEST,
    HASH_ROW,
    bucket_counts,
    chosen_buckets,
    frequent,
    shingle_counts,
)
from corpus_assets.dedup.templates.reading import SHARE, SHINGLES, SOURCES
from resources.hashing import content_digest
from resources.stage.partition import Partition
from resources.stage.task import Task

DOCUMENTS = "documents with a shingle"
TOO_LONG = "sources of too long documents"
_BUCKETS, _COUNTS = ".buckets.npy", ".counts.npy"


def template_buckets(task: Task) -> None:
    """Writes the buckets of shingles that enough of a shard's documents have."""
    rows, documents = bucket_counts(task.input("normalized_documents").texts(), _scheme(task), task[SHARE])
    task.save_array(f"templates/{task.shard.source}/{task.shard.name}{_BUCKETS}", rows)
    task.save_counters(DOCUMENTS, {"documents": documents})
    task.count(rows_in=documents, rows_out=len(rows))


def template_candidates(task: Task) -> None:
    """Writes for each source the buckets in which shingles of its template lie, one bit each."""
    sources: dict[str, int] = {}
    too_long: list[str] = []
    with task.array("templates/candidates.buckets.npy", np.uint8, (2 * BUCKETS // 8,)) as out:
        for source, shards in _by_source(task, "template_buckets"):
            documents = _documents(shards)
            files = (np.array(shard.array(_BUCKETS), dtype=BUCKET_ROW) for shard in shards)
            chosen = chosen_buckets(files, documents, task[SHARE]) if documents >= FEWEST else None
            if chosen is None:
                too_long += [source] if documents >= FEWEST else []
                continue
            packed = np.packbits(chosen.reshape(-1))
            sources[source] = len(sources)
            out.append(packed[None])
            for shard in shards:
                task.segments[shard.key or ""] = content_digest(packed.tobytes())
    task.save_json("templates/candidates.sources.json", sources, rows=len(sources))
    task.save_counters(TOO_LONG, {"sources": too_long})
    task.count(rows_out=len(sources))


def template_counts(task: Task) -> None:
    """Writes how many documents of a shard have each shingle in the buckets of its source."""
    candidates = task.input("template_candidates")
    place = candidates.json("sources.json").get(task.shard.source)
    rows = np.empty(0, dtype=HASH_ROW)
    if place is not None:
        packed = np.array(candidates.array("buckets.npy")[place])
        chosen = np.unpackbits(packed).astype(np.bool_).reshape(2, BUCKETS)
        rows = shingle_counts(task.input("normalized_documents").texts(), _scheme(task), chosen)
    task.save_array(f"templates/{task.shard.source}/{task.shard.name}{_COUNTS}", rows)
    task.count(rows_out=len(rows))


def templates(task: Task) -> None:
    """Writes the template of each source: the shingles that a share of its documents have."""
    places: dict[str, dict[str, int]] = {}
    documents = {source: _documents(shards) for source, shards in _by_source(task, "template_buckets")}
    stop = 0
    with task.array(f"templates/{SHINGLES}", np.uint64) as out:
        for source, shards in _by_source(task, "template_counts"):
            files = (np.array(shard.array(_COUNTS), dtype=HASH_ROW) for shard in shards)
            found = frequent(files, max(documents[source], FEWEST), task[SHARE])
            out.append(found)
            places[source] = {"from": stop, "to": stop + len(found), "documents": documents[source]}
            stop += len(found)
            for shard in shards:
                task.segments[shard.key or ""] = content_digest(found.tobytes())
    task.save_json(f"templates/{SOURCES}", places, rows=len(places))
    task.count(rows_out=stop, shingles={source: place["to"] - place["from"] for source, place in places.items()})


def _by_source(task: Task, asset: str) -> Iterator[tuple[str, list[Partition]]]:
    by_source: dict[str, list[Partition]] = {}
    for shard in task.inputs(asset):
        by_source.setdefault(shard_source(shard.key or ""), []).append(shard)
    return iter(by_source.items())


def _documents(shards: list[Partition]) -> int:
    return sum(shard.counters(DOCUMENTS)["documents"] for shard in shards)


def _scheme(task: Task) -> SignatureScheme:
    return SignatureScheme(width=task["minhash.width"], unit=task["minhash.unit"])
