"""The golden SlimPajama run: signatures, band keys, candidates, pairs, components, removals.

The compat profile: ftfy, legacy permutations, 9 bands of 13 rows, short and featureless documents take part.
"""

import io
import json
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from corpus_assets.config.selection.band_layout import band_layout
from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.pairs.equal_keys import star_pairs
from corpus_assets.dedup.signatures.bands import band_keys, reference_band_key
from corpus_assets.dedup.signatures.minhash import featureless, sign
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from resources.documents.slimpajama_cleaning import clean
from tests.dedup.slimpajama import documents, golden, json_lines, normalized_texts, numbers, signatures, table

LEGACY = SignatureScheme(family="legacy")
BANDS, ROWS = band_layout(0.8, 128)


def stars(keys: NDArray[np.uint64]) -> NDArray[np.unsignedinteger]:
    """Edges of one band, in three shards and little memory."""
    found = star_pairs(np.array_split(keys, 3), memory=16 << 10, spill=io.BytesIO)
    return np.concatenate(list(found))


def closure(edges: NDArray[np.unsignedinteger]) -> list[list[str]]:
    forest = UnionFind(len(documents()))
    forest.add(edges)
    groups: dict[int, list[str]] = defaultdict(list)
    for members, roots, _ in forest.clusters():
        for member, lead in zip(members.tolist(), roots.tolist(), strict=True):
            groups[lead].append(documents()[member]["key"])
    return sorted(sorted(group) for group in groups.values())


@pytest.mark.parametrize(
    "every", [pytest.param(16, id="every 16th"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
def test_signatures(every: int) -> None:
    signed = np.concatenate(list(sign(normalized_texts()[::every], LEGACY)))
    assert np.array_equal(signed, signatures()[::every])


def test_windows() -> None:
    lengths = [len(clean(text)) for text in normalized_texts()]
    windows = [row["ngrams"] for row in documents()]
    assert [max(length - LEGACY.width + 1, 0) for length in lengths] == windows
    assert featureless(signatures()).tolist() == [count == 0 for count in windows]


def test_reference_band_keys() -> None:
    sample = json_lines("band_keys_sample.jsonl.gz")
    for row in sample:
        signature = signatures()[numbers()[row["key"]]]
        keys = [reference_band_key(signature, band, ROWS).hex() for band in range(BANDS)]
        assert keys == row["bands"]
    assert len(sample) == 21


def test_candidate_pairs() -> None:
    shared_bands: Counter[tuple[str, str]] = Counter()
    for keys in band_keys(signatures(), BANDS, ROWS):
        buckets: dict[int, list[str]] = defaultdict(list)
        for row, key in zip(documents(), keys.tolist(), strict=True):
            buckets[key].append(row["key"])
        for bucket in buckets.values():
            shared_bands.update(combinations(bucket, 2))
    expected = {(left, right): int(bands) for left, right, bands, _ in table("candidate_pairs.tsv.gz")}
    assert shared_bands == expected


def test_pairs_of_each_band_close_to_the_clusters_of_the_run() -> None:
    by_band: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for column, later, lead in table("pairs_one_producer.tsv.gz"):
        by_band[int(column)].append((numbers()[lead], numbers()[later]))
    for band, keys in enumerate(band_keys(signatures(), BANDS, ROWS)):
        edges = stars(keys)
        assert len(edges) == len(by_band[band])
        assert closure(edges) == closure(np.array(by_band[band], dtype=np.uint32))


def test_components_and_removals() -> None:
    edges = np.concatenate([stars(keys) for keys in band_keys(signatures(), BANDS, ROWS)])
    components = closure(edges)
    summary = json.loads(golden("summary.json").read_text())
    assert components == json_lines("components.jsonl.gz")
    assert len(components) == summary["components"]
    assert sum(len(component) - 1 for component in components) == summary["duplicates_removed"]


def test_first_document_of_a_component_is_kept() -> None:
    forest = UnionFind(len(documents()))
    for keys in band_keys(signatures(), BANDS, ROWS):
        forest.add(stars(keys))
    removed: dict[str, list[int]] = defaultdict(list)
    for members, roots, _ in forest.clusters(block=500):
        for member in members[members != roots].tolist():
            file, _, index = documents()[member]["key"].rpartition("@")
            removed[file].append(int(index))
    assert dict(removed) == json.loads(golden("duplicates_first_key_kept.json").read_text())


def test_short_documents_left_out_never_pair() -> None:
    short = np.array([row["short"] for row in documents()])
    keys = band_keys(signatures(), BANDS, ROWS, ~short)
    paired = np.unique(np.concatenate([stars(band) for band in keys]))
    assert not short[paired].any()
    assert len(paired) > 500
