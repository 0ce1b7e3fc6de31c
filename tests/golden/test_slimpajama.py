"""`compat: slimpajama` through the real stages, over the golden corpus (golden/slimpajama/README.md)."""

import gzip
import hashlib
import json
from collections import Counter, defaultdict
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.mix.shuffle import slimpajama_order
from corpus_assets.split.decontaminate import contaminated, unique_digests
from corpus_assets.split.holdout import leading
from resources.documents.slimpajama_cleaning import cleaned_length
from resources.formats.attributes import flags_of
from tests.data.building import assert_conserved, build, documents, open_corpus, partitions
from tests.dedup.slimpajama import documents as golden_documents
from tests.dedup.slimpajama import golden, json_lines, numbers, signatures, table

SOURCES = ("arxiv", "book", "c4", "common_crawl", "github", "stackexchange", "wikipedia")
EPOCHS = 4.0


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Everything up to the splits; sources in the order of the golden paths."""
    places = [{"name": name, "location": str(golden(f"raw/{name}")), "epochs": EPOCHS} for name in SOURCES]
    values = {"compat": "slimpajama", "sources": places, "mix": {"chunks": 1}, "engine": {"workers": 2}}
    corpus = open_corpus(tmp_path_factory.mktemp("slimpajama"), values)
    build(corpus, ["+decontaminated_train", "validation", "test"])
    return corpus


def golden_key(label: str) -> str:
    """The golden keys name plain sources without their .gz."""
    return label.removesuffix(".gz")


def keys_of(corpus: Corpus) -> list[str]:
    """Golden key of every document, in canonical order."""
    by_key = corpus.listing().by_key()
    shards = [(by_key[partition.key or ""], partition) for partition in partitions(corpus, "normalized_documents")]
    return [
        f"{golden_key(shard.label)}@{row}" for shard, partition in shards for row, _ in enumerate(partition.lines())
    ]


def test_documents_have_the_golden_order_and_texts(corpus: Corpus) -> None:
    rows = golden_documents()
    assert keys_of(corpus) == [row["key"] for row in rows]
    digests = np.concatenate(
        [partition.array(".texts.npy")["digest"] for partition in partitions(corpus, "normalized_documents")]
    )
    assert [bytes(digest).hex() for digest in digests] == [row["norm_sha256"] for row in rows]
    found = list(documents(corpus, "normalized_documents"))
    assert [hashlib.sha256(document.text.encode()).hexdigest() for document in found] == [
        row["norm_sha256"] for row in rows
    ]
    assert [cleaned_length(document.text) for document in found] == [row["clean_len"] for row in rows]


def test_metadata_is_kept(corpus: Corpus) -> None:
    """SlimPajama drops it in pass 1."""
    for document in documents(corpus, "mixed_pass2"):
        held = json.loads(bytes(document.metadata))
        assert "pred_label" in held if document.source == "common_crawl" else held


def test_short_list(corpus: Corpus) -> None:
    short = [flag for partition in partitions(corpus, "short_documents") for flag in flags_of(partition.lines())]
    assert short == [row["short"] for row in golden_documents()]


def test_signatures(corpus: Corpus) -> None:
    found = np.concatenate([partition.array(".signatures.npy") for partition in partitions(corpus, "minhashes")])
    assert np.array_equal(found, signatures())


def test_candidate_pairs_are_the_documents_that_share_a_band_key(corpus: Corpus) -> None:
    bands = np.concatenate([partition.array(".bands.npy") for partition in partitions(corpus, "band_keys")], axis=1)
    shared_bands: Counter[tuple[str, str]] = Counter()
    for keys in bands:
        for bucket in buckets(keys.tolist()):
            shared_bands.update(combinations(bucket, 2))
    expected = {(left, right): int(count) for left, right, count, _ in table("candidate_pairs.tsv.gz")}
    assert shared_bands == expected


def buckets(keys: list[int]) -> list[list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for row, key in zip(golden_documents(), keys, strict=True):
        found[key].append(row["key"])
    return list(found.values())


def closure(edges: list[tuple[int, int]]) -> set[frozenset[str]]:
    """Connected components of two or more, by repeated joining: plain, and not the code under test."""
    group = {number: {number} for edge in edges for number in edge}
    for left, right in edges:
        if group[left] is not group[right]:
            joined = group[left] | group[right]
            group |= dict.fromkeys(joined, joined)
    names = golden_documents()
    return {frozenset(names[number]["key"] for number in found) for found in group.values()}


def test_pairs_of_each_band_have_the_closure_of_the_run(corpus: Corpus) -> None:
    by_band: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for band, later, first in table("pairs_one_producer.tsv.gz"):
        by_band[f"band-{int(band):02d}"].append((numbers()[later], numbers()[first]))
    for partition in partitions(corpus, "duplicate_pairs"):
        edges = [(int(left), int(right)) for left, right in partition.array(".npy")]
        assert len(edges) == len(by_band[partition.key or ""])
        assert closure(edges) == closure(by_band[partition.key or ""])


def test_components(corpus: Corpus) -> None:
    (partition,) = partitions(corpus, "components")
    clusters: dict[int, list[str]] = defaultdict(list)
    for member, kept, _ in partition.array("clusters.npy").tolist():
        clusters[kept].append(golden_documents()[member]["key"])
    assert sorted(sorted(cluster) for cluster in clusters.values()) == json_lines("components.jsonl.gz")
    summary = json.loads(golden("summary.json").read_text())
    assert partition.record.statistics["duplicates"] == summary["duplicates_removed"]
    assert partition.record.statistics["largest"] == summary["largest_component"]


def test_the_first_document_of_a_component_is_kept(corpus: Corpus) -> None:
    marks = [flag for partition in partitions(corpus, "duplicates") for flag in flags_of(partition.lines())]
    removed: dict[str, list[int]] = defaultdict(list)
    for row, mark in zip(golden_documents(), marks, strict=True):
        file, _, index = row["key"].rpartition("@")
        if mark:
            removed[file].append(int(index))
    assert dict(removed) == json.loads(golden("duplicates_first_key_kept.json").read_text())


def test_four_epochs_are_four_uses_of_each_kept_document(corpus: Corpus) -> None:
    """SlimPajama draws with replacement: 3 to 5 uses (mix_run_multiplicity_histogram)."""
    removed = json.loads(golden("duplicates_first_key_kept.json").read_text())
    gone = {f"{file}@{index}" for file, rows in removed.items() for index in rows}
    kept = [row for row in golden_documents() if row["key"] not in gone and not row["short"]]
    uses = Counter((d.source, d.id) for d in documents(corpus, "mixed_pass2"))
    assert len(uses) == len(kept)
    assert set(uses.values()) == {4}
    expected = Counter(row["norm_sha256"] for row in kept)
    texts = Counter(hashlib.sha256(d.text.encode()).hexdigest() for d in documents(corpus, "mixed_pass2"))
    assert texts == {digest: 4 * count for digest, count in expected.items()}
    assert_conserved(corpus)


def test_the_chunk_is_shuffled_and_split_as_the_reference_does(corpus: Corpus) -> None:
    """The stages give what the shipped functions give for the rows of pass 1."""
    (mixed,), (train,), (holdout,) = (partitions(corpus, name) for name in ("mixed_pass2", "train", "holdout"))
    shards = partitions(corpus, "mixed_pass1")
    arrived = [line for partition in shards for line in partition.segment_lines(partition.segments()["chunk-0000"])]
    lines = list(mixed.lines())
    assert lines == [arrived[place] for place in slimpajama_order(len(arrived), 42)]
    pivot = int(len(lines) * 0.0017)
    assert list(holdout.lines()) == lines[:pivot]
    assert list(train.lines()) == lines[pivot:]


@cache
def mix_run() -> dict[str, Any]:
    run: dict[str, Any] = json.loads(gzip.decompress(golden("mix_run.json.gz").read_bytes()))
    return run


@cache
def shuffled() -> list[str]:
    arrived = [digest for digest, _ in mix_run()["pass1_chunk0_order"]]
    return [arrived[place] for place in slimpajama_order(len(arrived), 42)]


def cut(digests: list[str], parts_wanted: int) -> list[list[str]]:
    """Pass 2's files: runs of `n // m` rows, and the remainder in files of its own.

    Rule: docs/formats/slimpajama.md "Pass 2".
    """
    run = len(digests) // parts_wanted
    starts = [*range(0, len(digests), run), len(digests)]
    return [digests[start:end] for start, end in pairwise(starts)]


def split_run() -> tuple[list[str], list[str]]:
    held = leading(len(shuffled()), 0.0017)
    rows = list(zip(shuffled(), held, strict=True))
    return [digest for digest, flag in rows if flag], [digest for digest, flag in rows if not flag]


def test_order_and_split_of_the_reference_run() -> None:
    holdout, train = split_run()
    assert cut(holdout, 2) == list(mix_run()["holdout"].values())
    assert cut(train, 2) == list(mix_run()["train"].values())


def test_train_against_holdout_of_the_reference_run() -> None:
    holdout, _ = split_run()
    known = unique_digests([np.array([list(bytes.fromhex(digest)) for digest in holdout], dtype=np.uint8)])
    removed = False
    for name, digests in mix_run()["train"].items():
        bad = contaminated([bytes.fromhex(digest) for digest in digests], known)
        assert [d for d, flag in zip(digests, bad, strict=True) if not flag] == mix_run()["train_deduped"][name]
        removed |= bool(bad.any())
    assert removed
