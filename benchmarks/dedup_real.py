"""The documents that a build over the shared data removes, and how similar they are to those kept instead.

Real texts come in chains: dozens of versions of one file, of which neighbours are similar and the ends are not. Made
pairs have none. `measure` builds with the defaults, then with a guard that only reports: what that build removes below
the threshold says how many chains there are for the defaults to cut. And of the documents of one chain that the
defaults keep, no two should be similar.
"""

import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from benchmarks.dedup_pairs import LABELLED, jaccard, shingles
from benchmarks.peers.own import build
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.shared import stored_numbering
from corpus_assets.dedup.signatures.sketches import estimate
from resources.formats.attributes import DUPLICATE, attribute_rows
from resources.stage.partition import Partition

QUICK_SOURCES = 2
FAR = 0.6
"""Estimated similarity from sketches, below which two documents are surely less similar than 0.8."""
SOURCES = [
    {"name": "versions", "glob": "redpajama/github_readme/*"},
    {"name": "licenses", "glob": "redpajama/licenses/*"},
    {"name": "code", "glob": "redpajama/code/*"},
    {"name": "dolma", "glob": "dolma/documents/**/*.jsonl.gz"},
    {"name": "wiki", "glob": "cerebras/wiki_tldr.jsonl.zst.tar"},
    {"name": "web", "glob": "cerebras/web/*"},
    {"name": "questions", "glob": "cerebras/idea/*", "text_key": "idea"},
    {"name": "translations", "glob": "parquet/*.parquet"},
    {"name": "manual", "glob": "txt/metadata_?.txt", "format": "txt_list"},
]

Place = tuple[str, int]
"""Shard and row of a document."""


def measure(quick: bool, threshold: float) -> dict[str, Any]:
    """Shares of the removed documents whose true similarity to the kept one is below the threshold.

    Nothing when the shared data is not beside the checkout.
    """
    if not LABELLED.is_dir():
        return {}
    sources = SOURCES[:QUICK_SOURCES] if quick else SOURCES
    with tempfile.TemporaryDirectory() as place:
        corpus = built(Path(place), sources)
        defaults, left = similarities(corpus), similarities_of_kept(corpus)
        (components,) = _partitions(corpus, "components")
        unguarded = similarities(built(Path(place), sources, dedup={"guard": {"action": "report"}}))
    return {
        "removed_real": len(defaults),
        "removed_below_threshold_real": _share(defaults < threshold),
        "kept_of_split_clusters_joined_real": components.record.statistics["kept_documents_joined"],
        "kept_pairs_compared_real": len(left),
        "kept_pairs_above_threshold_real": int((left >= threshold).sum()),
        "removed_real_unguarded": len(unguarded),
        "removed_below_threshold_real_unguarded": _share(unguarded < threshold),
    }


def built(folder: Path, sources: list[dict[str, str]], **more: Any) -> Corpus:
    """The corpus of a folder, built up to the duplicates of each shard."""
    corpus = Corpus.open(write_config(folder, sources, **more))
    build(corpus)
    return corpus


def write_config(folder: Path, sources: list[dict[str, str]], **more: Any) -> Path:
    """The corpus.yaml of sources of the shared data; one worker's share of memory, no flushing to disk."""
    config = {
        "sources": [source | {"location": str(LABELLED)} for source in sources],
        "storage": {"root": "corpus", "sync": False},
        "engine": {"workers": 0, "memory": "1 GiB"},
        **more,
    }
    file = folder / "corpus.yaml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    return file


def similarities(corpus: Corpus) -> NDArray[np.float64]:
    """The true similarity (n,) of each removed document to the one that is kept instead."""
    return _similarities(corpus, sorted(_removed(corpus)))


def _similarities(corpus: Corpus, pairs: list[tuple[Place, Place]]) -> NDArray[np.float64]:
    texts = _texts(corpus, {place for pair in pairs for place in pair})
    # A set of strings takes a hundred times its text; the pairs of one kept document follow one another.
    held = lru_cache(maxsize=4)(lambda place: shingles(texts[place]))
    return np.array([jaccard(held(first), held(other)) for first, other in pairs], dtype=np.float64)


def similarities_of_kept(corpus: Corpus) -> NDArray[np.float64]:
    """The true similarity (n,) of each two kept documents that chains of pairs join.

    Without those whose sketches put them `FAR` below the threshold of 0.8.
    """
    numbering = stored_numbering(next(_partitions(corpus, "components")))
    sets = UnionFind(numbering.total)
    for asset in ("exact_duplicates", "verified_pairs"):
        for partition in _partitions(corpus, asset):
            sets.add(np.array(partition.array(".npy")))
    gone = {place for _, place in _removed(corpus)}
    kept: dict[int, list[int]] = {}
    for members, roots, _ in sets.clusters():
        for member, root in zip(members.tolist(), roots.tolist(), strict=True):
            if numbering.locate(member) not in gone:
                kept.setdefault(root, []).append(member)
    shards = {partition.key: partition for partition in _partitions(corpus, "minhashes")}
    sketches = np.concatenate([shards[key].array(".sketch.npy") for key in numbering.shards])
    pairs = [
        (numbering.locate(together[first]), numbering.locate(together[later]))
        for together in kept.values()
        for first in range(len(together))
        for later in (first + 1 + np.flatnonzero(_near(sketches[together[first:]]))).tolist()
    ]
    return _similarities(corpus, pairs)


def _near(sketches: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which sketches (n - 1,) may be of documents similar to the first."""
    agree = np.bitwise_count(~(sketches[1:] ^ sketches[0])).sum(axis=1, dtype=np.int64)
    return estimate(agree, 8 * sketches.shape[1]) >= FAR


def _removed(corpus: Corpus) -> Iterator[tuple[Place, Place]]:
    """Kept and removed document of each duplicate."""
    for partition in _partitions(corpus, "duplicates"):
        for row, attributes in enumerate(attribute_rows(partition.lines())):
            if DUPLICATE in attributes.attributes and (kept := attributes.kept):
                yield (str(kept["shard"]), int(kept["row"])), (partition.key or "", row)


def _texts(corpus: Corpus, places: set[Place]) -> dict[Place, str]:
    return {
        place: document.text
        for partition in _partitions(corpus, "normalized_documents")
        for row, document in enumerate(partition.documents())
        if (place := (partition.key or "", row)) in places
    }


def _partitions(corpus: Corpus, asset: str) -> Iterator[Partition]:
    for record in corpus.ledger.records(asset).values():
        yield Partition(corpus.storage, record)


def _share(chosen: NDArray[np.bool_]) -> float | None:
    """None if there is nothing to take a share of."""
    return round(float(chosen.mean()), 4) if len(chosen) else None
