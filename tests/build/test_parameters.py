"""A parameter, a code version, a tokenizer: only what depends on it is recomputed, and the plan says which it was."""

import dataclasses
from typing import Any

import pytest

from corpus_assets.dedup.shared import KEPT_THRESHOLD
from corpus_assets.tokenize.tokenizers import loading
from corpus_assets.tokenize.tokenizers.training import train_bpe
from resources.stage.graph import Graph
from tests.build.small import CONFIG, Key, Work, drive, opened, prose, reported_on, statuses, write_config
from tests.tokenize.test_fast_t5 import trained as small_t5

SHARDS = ["books--one", "books--three", "books--two", "web--b", "web--deep--a", "notes--list", "notes--single"]
BOOKS, WEB, NOTES = SHARDS[:3], SHARDS[3:5], SHARDS[5:]
BANDS = ["band-00", "band-01", "band-02"]
RANGES = ["range-000", "range-001"]
CHUNKS = ["chunk-0000", "chunk-0001", "chunk-0002"]
WHOLE = [None]
KEEP = {"cluster_members": RANGES, "guarded_clusters": RANGES}

CHANGES: list[tuple[dict[str, Any], str, dict[str, list[Any]]]] = [
    ({"normalize.method": "ftfy"}, "normalize.method nfc -> ftfy", {"normalized_documents": SHARDS}),
    ({"short_documents.threshold": 80}, "short_documents.threshold 60 -> 80", {"short_documents": SHARDS}),
    ({"minhash.width": 7}, "minhash.width 5 -> 7", {"minhashes": SHARDS}),
    ({"minhash.seed": 2}, "minhash.seed 1 -> 2", {"minhashes": SHARDS}),
    ({"minhash.family": "legacy"}, "minhash.family oph -> legacy", {"minhashes": SHARDS}),
    ({"minhash.rows": 6}, "minhash.rows 8 -> 6", {"band_keys": SHARDS}),
    ({"minhash.sketch": 512}, "minhash.sketch 1024 -> 512", {"minhashes": SHARDS}),
    ({"minhash.unit": "word"}, "minhash.unit char -> word", {"minhashes": SHARDS}),
    (
        {"dedup.short_documents": "include"},
        "dedup.short_documents exclude -> include",
        {"band_keys": SHARDS, "components": WHOLE},
    ),
    ({"dedup.exact_first": False}, "dedup.exact_first True -> False", {"exact_duplicates": RANGES}),
    ({"dedup.verify": "exact"}, "dedup.verify two_sided -> exact", {"verified_pairs": RANGES}),
    (
        {"dedup.threshold": 0.95},
        "dedup.threshold 0.8 -> 0.95",
        {"verified_pairs": RANGES, "guarded_clusters": RANGES},
    ),
    ({"dedup.keep": "longest"}, "dedup.keep ['first'] -> ['longest']", KEEP),
    ({"dedup.keep": ["source", "longest"]}, "dedup.keep ['first'] -> ['source', 'longest']", KEEP),
    ({"dedup.guard.max_examined": 5}, "dedup.guard.max_examined 500000 -> 5", {"guarded_clusters": RANGES}),
    ({"dedup.guard.action": "report"}, "dedup.guard.action split -> report", {"guarded_clusters": RANGES}),
    (
        {"dedup.guard.resemblance": 0.7},
        "dedup.guard.resemblance None -> 0.7, dedup.threshold 0.8 -> (unset)",
        {"guarded_clusters": RANGES},
    ),
    ({"mix.seed": 9}, "mix.seed 0 -> 9", {"mixed_pass1": SHARDS, "mixed_pass2": CHUNKS}),
    ({"mix.order": "slimpajama"}, "mix.order keyed -> slimpajama", {"mixed_pass2": CHUNKS}),
    (
        {"split.holdout": 0.4},
        "split.holdout 0.2 -> 0.4",
        {"holdout_selection": WHOLE, "train": CHUNKS, "holdout": CHUNKS},
    ),
    ({"split.validation": 0.2}, "split.validation 0.5 -> 0.2", {"validation": CHUNKS, "test": CHUNKS}),
    (
        {"split.seed": 3},
        "split.seed 0 -> 3",
        {
            "holdout_selection": WHOLE,
            **dict.fromkeys(["train", "holdout", "validation", "test"], CHUNKS),
        },
    ),
    (
        {"datasets.0.sequence_length": 32},
        "datasets.train.sequence_length 64 -> 32",
        {"train_tokens": CHUNKS, "train_token_params": WHOLE},
    ),
    (
        {"datasets.1.pack": False},
        "datasets.validation.pack True -> False",
        {"validation_tokens": CHUNKS, "validation_token_params": WHOLE},
    ),
    ({"tokenizer.vocabulary": 290}, "tokenizer.vocabulary 300 -> 290", {"tokenizer": WHOLE}),
    ({"tokenizer.seed": 4}, "tokenizer.seed 0 -> 4", {"tokenizer": WHOLE}),
    ({"sources.0.epochs": 2.5}, "source.epochs 1.0 -> 2.5", {"mixed_pass1": BOOKS}),
    ({"sources.1.on_bad_row": "fail"}, "source.on_bad_row skip -> fail", {"normalized_documents": WEB}),
    ({"sources.2.on_bad_file": "skip"}, "source.on_bad_file fail -> skip", {"normalized_documents": NOTES}),
    (
        {"sources.2.text_key": "other", "sources.2.max_bad_rows": 1.0, "sources.2.may_be_empty": True},
        "source.text_key body -> other",
        {"normalized_documents": NOTES},
    ),
    ({"sources.1.id_key": "other"}, "source.id_key id -> other", {"normalized_documents": WEB}),
    ({"sources.1.ids": "derived"}, "source.ids auto -> derived", {"normalized_documents": WEB}),
    ({"sources.0.holdout": {"count": 3}}, "holdout by source.books None -> {'count': 3}", {"holdout_selection": WHOLE}),
    ({"sources.0.holdout": 0.5}, "holdout by source.books None -> 0.5", {"holdout_selection": WHOLE}),
]


@pytest.mark.parametrize(("changes", "reason", "expected"), CHANGES, ids=lambda value: str(value)[:40])
def test_a_parameter_stales_its_assets_and_what_depends_on_them(
    work: Work, changes: dict[str, Any], reason: str, expected: dict[str, list[Any]]
) -> None:
    write_config(work.folder, changes)
    plan = work.plan()
    stale = {name for name, (status, _) in plan.items() if status != "waiting"}
    assert stale == {(asset, key) for asset, keys in expected.items() for key in keys}
    follows = f", {KEPT_THRESHOLD}"
    assert {plan[name][1].partition(follows)[0] for name in stale} == {reason}
    downstream = opened(work.folder).graph.select([f"{asset}+" for asset in expected])
    assert {asset for asset, _ in plan} <= {stage.name for stage in downstream}
    built = work.rebuild()
    assert stale <= built.recomputed
    assert work.plan() == {}


def test_more_bands_and_more_chunks_are_new_partitions(work: Work) -> None:
    write_config(work.folder, {"minhash.bands": 4, "mix.chunks": 5})
    plan = work.plan()
    assert plan["duplicate_pairs", "band-03"][0] == "missing"
    assert plan["mixed_pass2", "chunk-0004"][0] == "missing"
    assert plan["mixed_pass1", "books--one"] == ("stale", "mix.chunks 3 -> 5")
    built = work.rebuild()
    assert not built.assets() & {"raw_source", "normalized_documents", "short_documents", "minhashes"}


def test_another_number_of_ranges_gives_the_same_clusters(work: Work) -> None:
    write_config(work.folder, {"dedup.ranges": 3})
    clusters = work.before["components", None].digest
    plan = work.plan()
    assert plan["band_keys", "books--one"] == ("stale", "dedup.ranges 2 -> 3")
    assert plan["exact_duplicates", "range-002"][0] == plan["verified_pairs", "range-002"][0] == "missing"
    built = work.rebuild()
    by_range = {"exact_duplicates", "candidate_pairs", "verified_pairs", "cluster_members", "guarded_clusters"}
    assert built.assets() == {"band_keys", "duplicate_pairs", "cluster_roots", "components", *by_range}
    assert work.before["components", None].digest == clusters
    write_config(work.folder, {})
    assert not work.rebuild().assets() & {"duplicates", "mixed_pass1"}
    orphans = opened(work.folder).planner().plan().orphans
    assert set(orphans) == {(asset, "range-002") for asset in by_range}


def test_fewer_chunks_leave_orphans_that_nothing_reads(work: Work) -> None:
    write_config(work.folder, {"mix.chunks": 2})
    work.rebuild()
    orphans = opened(work.folder).planner().plan().orphans
    per_chunk = {name for name, key in work.before if key == CHUNKS[0]}
    assert set(orphans) == {(asset, CHUNKS[2]) for asset in per_chunk}


def test_the_order_of_sources_decides_which_duplicate_is_kept(work: Work) -> None:
    sources = [CONFIG["sources"][place] for place in (2, 1, 0)]
    write_config(work.folder, {"sources": sources})
    plan = work.plan()
    assert plan["inventory", None] == ("stale", "order of inputs changed")
    assert plan["duplicate_pairs", BANDS[0]][1].startswith("order of sources ")
    built = work.rebuild()
    assert not built.assets() & {"raw_source", "normalized_documents", "minhashes", "band_keys"}
    assert "notes--list" in built.of("duplicates")


@pytest.mark.parametrize(
    "changes",
    [
        {"dedup.max_loss": 0.5},
        {"engine.workers": 3},
        {"engine.memory": "64 KiB"},
        {"storage.sync": True},
        {"sources.0.licence": "CC0"},
        {"name": "another"},
        {"sources.0.glob": ["*.jsonl", "*.gz"]},
    ],
    ids=str,
)
def test_what_the_content_does_not_depend_on_changes_nothing(work: Work, changes: dict[str, Any]) -> None:
    write_config(work.folder, changes)
    assert work.plan() == {}


def test_a_code_version_stales_its_asset_alone_when_the_content_stays(work: Work) -> None:
    corpus = opened(work.folder)
    for name in [stage.name for stage in reported_on(corpus.graph)]:
        before = corpus.graph[name].code_version
        after = str(int(before) + 1)
        raised = [dataclasses.replace(s, code_version=after) if s.name == name else s for s in corpus.graph]
        corpus.graph = Graph(raised)
        partitions: set[Key] = {(name, key) for key in corpus.planner().partitions(corpus.graph[name])}
        plan = statuses(corpus.planner().plan())
        changed = {partition for partition, (status, _) in plan.items() if status == "stale"}
        assert changed == partitions
        assert {plan[partition][1] for partition in changed} == {f"code version {before} -> {after}"}
        assert drive(corpus).recomputed == partitions


def test_a_trained_tokenizer_is_kept_until_someone_asks_for_a_new_one(work: Work) -> None:
    kept = work.before["tokenizer", None]
    work.rows("books/zero.jsonl", [{"id": f"z{n}", "text": prose(f"zero {n}")} for n in range(5)])
    assert work.rebuild().of("train_tokens")
    assert opened(work.folder).ledger.read("tokenizer", None) == kept
    write_config(work.folder, {"tokenizer.generation": 2})
    assert work.plan()["tokenizer", None] == ("stale", "tokenizer.generation 1 -> 2")
    assert work.rebuild().of("train_tokens") == set(CHUNKS)
    assert work.before["tokenizer", None].digest != kept.digest


def test_a_tokenizer_file_counts_by_its_content_and_not_by_its_place(work: Work) -> None:
    content = train_bpe([prose(n) for n in range(40)], 300)
    file, moved = work.folder / "tokenizer.json", work.folder / "moved.json"
    file.write_bytes(content)
    chosen = {"kind": "tokenizer_json", "path": file.name, "eos": "<|endoftext|>"}
    write_config(work.folder, {"tokenizer": chosen})
    assert work.rebuild().of("tokenizer") == {None}
    file.rename(moved)
    write_config(work.folder, {"tokenizer": chosen | {"path": moved.name}})
    assert work.plan() == {}
    write_config(work.folder, {"tokenizer": chosen | {"path": moved.name, "special_tokens_in_text": True}})
    assert work.plan()["tokenizer", None] == ("stale", "tokenizer.special_tokens_in_text False -> True")
    assert work.rebuild().of("tokenizer") == {None}
    moved.write_bytes(train_bpe([prose(f"other {n}") for n in range(40)], 300))
    status, reason = work.plan()["tokenizer", None]
    assert status == "stale"
    assert reason.startswith("tokenizer files.tokenizer.json ")
    assert work.rebuild().of("train_tokens") == set(CHUNKS)


def test_tokens_with_other_ids_than_a_model_has_now_are_made_again(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = work.folder / "t5"
    folder.mkdir()
    (folder / "spiece.model").write_bytes(small_t5())
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "T5Tokenizer"}')
    write_config(work.folder, {"tokenizer": {"kind": "huggingface", "path": folder.name}})
    with monkeypatch.context() as before:
        before.setattr(loading, "is_fast_t5", lambda *_: False)
        work.rebuild()
        assert work.plan() == {}
    assert work.plan()["tokenizer", None] == ("stale", "tokenizer class (unset) -> T5TokenizerFast")
    built = work.rebuild()
    assert built.of("tokenizer") == {None}
    assert built.of("train_tokens") == set(CHUNKS)
