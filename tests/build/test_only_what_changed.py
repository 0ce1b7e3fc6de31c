"""A rerun touches only what changed in the raw files, and says why."""

import json
import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.cli.clean import clean_corpus
from resources.ledger.ledger import Record
from resources.shards.listing import Shard
from tests.build.small import Key, Work, contents, drive, near, opened, prose, raw_rows

CHAIN = {"raw_source", "normalized_documents", "short_documents", "minhashes", "band_keys"}
ONE = "books--one"


def of(records: dict[Key, Record], asset: str) -> dict[str, Record]:
    return {key or "": record for (name, key), record in records.items() if name == asset}


def changed_segments(before: Record, after: Record) -> set[str]:
    names = {*before.segments, *after.segments}
    return {name for name in names if before.segments.get(name) != after.segments.get(name)}


def test_a_second_build_recomputes_nothing(work: Work) -> None:
    assert work.plan() == {}
    assert not drive(opened(work.folder)).recomputed


def test_a_touched_file_is_hashed_once_and_recomputes_nothing(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(work.folder / "raw/books/one.jsonl", (1, 1))
    hashed: list[str] = []
    digest = Shard.digest

    def counting(shard: Shard) -> str:
        hashed.append(shard.key)
        return digest(shard)

    monkeypatch.setattr(Shard, "digest", counting)
    assert work.plan() == {}
    assert not drive(opened(work.folder)).recomputed
    hashed.clear()
    assert work.plan() == {}
    assert hashed == []


@pytest.mark.parametrize("row", [3, 5, 8])
def test_one_changed_document_touches_its_chain_its_bands_and_its_chunks(work: Work, row: int) -> None:
    before = dict(work.before)
    rows = raw_rows()["books/one.jsonl"]
    rows[row]["text"] = prose(f"new {row}")
    work.rows("books/one.jsonl", rows)
    assert work.plan()["raw_source", ONE] == ("stale", "raw shard books/one.jsonl changed")
    built = work.rebuild()
    for asset in ("raw_source", "normalized_documents", "short_documents", "minhashes", "band_keys", "mixed_pass1"):
        assert built.of(asset) == {ONE}, asset
    assert not built.of("duplicates") - {ONE}
    after = work.before
    keys = changed_segments(of(before, "band_keys")[ONE], of(after, "band_keys")[ONE])
    bands = {key for key in keys if key.startswith("band-")}
    chunks = changed_segments(of(before, "mixed_pass1")[ONE], of(after, "mixed_pass1")[ONE])
    assert built.of("duplicate_pairs") == bands
    assert built.of("exact_duplicates") == {key for key in keys if key.startswith("range-")}
    assert built.of("mixed_pass2") == chunks
    assert len(chunks) == 1
    for asset in ("train", "holdout"):
        assert built.of(asset) == chunks, asset
    if "holdout_hashes" not in built.assets():
        assert built.of("decontaminated_train") <= chunks
        assert built.of("train_tokens") <= chunks
    assert "tokenizer" not in built.assets()


def test_a_new_duplicate_changes_the_duplicates_of_its_own_shard_only(work: Work) -> None:
    rows = raw_rows()
    rows["web/b.jsonl.zst"][4]["text"] = near(rows["books/three.jsonl"][2]["text"])
    work.rows("web/b.jsonl.zst", rows["web/b.jsonl.zst"])
    built = work.rebuild()
    assert built.of("components") == {None}
    assert built.of("duplicates") == {"web--b"}


def test_changed_metadata_goes_past_the_signatures_unseen(work: Work) -> None:
    rows: list[dict[str, Any]] = raw_rows()["books/one.jsonl"]
    rows[3]["metadata"] = {"pages": 7}
    work.rows("books/one.jsonl", rows)
    built = work.rebuild()
    assert not built.assets() & {"minhashes", "exact_duplicates", "band_keys", "duplicate_pairs"}
    assert not built.assets() & {"verified_pairs", "components", "duplicates"}
    assert len(built.of("mixed_pass2")) == 1


def _spaced(text: str) -> str:
    return "\n".join(json.dumps(json.loads(line), separators=(" , ", " :  ")) for line in text.splitlines())


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


@pytest.mark.parametrize("rewrite", [_spaced, _decomposed, str.rstrip])
def test_equal_documents_stop_at_normalization(work: Work, rewrite: Any) -> None:
    file = work.folder / "raw/books/one.jsonl"
    rows = raw_rows()["books/one.jsonl"]
    rows[3]["text"] += " Ångström Öl déjà vu"
    work.rows("books/one.jsonl", rows)
    work.rebuild()
    old = file.read_text(encoding="utf-8")
    assert rewrite(old) != old
    file.write_text(rewrite(old), encoding="utf-8")
    built = work.rebuild()
    assert built.recomputed - {("inventory", None)} == {("raw_source", ONE), ("normalized_documents", ONE)}


def test_an_added_shard_leaves_every_other_shard_alone(work: Work) -> None:
    rows = [{"id": f"new-{n}", "text": prose(f"added {n}")} for n in range(4)]
    work.rows("books/zero.jsonl", rows)
    plan = work.plan()
    assert plan["raw_source", "books--zero"] == ("missing", "new shard")
    assert plan["inventory", None] == ("stale", "books--zero added")
    built = work.rebuild()
    for asset in (*CHAIN, "duplicates", "mixed_pass1"):
        assert built.of(asset) == {"books--zero"}, asset
    touched = work.before["mixed_pass1", "books--zero"]
    assert built.of("mixed_pass2") >= {name for name, _ in touched.segments.items() if name in built.of("train")}


def test_a_removed_shard_becomes_orphans_that_nothing_reads_and_clean_removes(work: Work) -> None:
    gone = work.folder / "raw/books/three.jsonl"
    gone.unlink()
    mine = {name for name in work.before if name[1] == "books--three"}
    owned = {file.path for name in mine for file in work.before[name].files}
    assert set(opened(work.folder).planner().plan().orphans) == mine
    built = work.rebuild()
    assert not {name for name in built.recomputed if name[1] == "books--three"}
    for record in work.before.values():
        assert not any("books--three" in name for name in record.inputs), record.asset

    corpus = opened(work.folder)
    kept = contents(corpus)
    dry = clean_corpus(corpus, dry_run=True)
    assert (dry.partitions, dry.files) == (len(mine), len(owned))
    assert all((Path(corpus.storage.place) / path).exists() for path in owned)
    stored = {entry.path for entry in corpus.storage.entries("")}
    clean_corpus(corpus, dry_run=False)
    left = {entry.path for entry in corpus.storage.entries("") if ".snapshots" not in entry.path}
    records = {f"ledger/{asset}/books--three.json" for asset, _ in mine}
    assert {path for path in stored if ".snapshots" not in path} - left == owned | records
    assert contents(opened(work.folder)) == kept
    assert opened(work.folder).planner().plan().orphans == []
    assert work.plan() == {}


def test_a_shard_that_comes_back_is_fresh_again(work: Work) -> None:
    file = work.folder / "raw/books/three.jsonl"
    stashed = file.rename(work.folder / "stashed")
    work.rebuild()
    stashed.rename(file)
    built = work.rebuild()
    assert not {name for name in built.recomputed if name[1] is not None and "--" in name[1]}


@pytest.mark.parametrize("kind", ["deleted", "truncated", "grown"])
def test_a_damaged_file_rebuilds_its_own_partition_only(work: Work, kind: str) -> None:
    corpus = opened(work.folder)
    whole = contents(corpus)
    for asset in {name for name, _ in work.before}:
        files = [(key, f) for (name, key), r in work.before.items() if name == asset for f in r.files]
        if not files:
            continue
        key, file = files[len(files) // 2]
        _damage(Path(corpus.storage.place) / file.path, kind)
        plan = work.plan()
        status, reason = plan[asset, key]
        assert status == ("missing" if kind == "deleted" else "stale")
        assert file.path in reason
        assert {name for name, (status, _) in plan.items() if status != "waiting"} == {(asset, key)}
        assert drive(opened(work.folder)).recomputed == {(asset, key)}
    assert contents(opened(work.folder)) == whole


def _damage(file: Path, kind: str) -> None:
    if kind == "deleted":
        file.unlink()
    elif kind == "truncated":
        os.truncate(file, file.stat().st_size // 2)
    else:
        with file.open("ab") as out:
            out.write(b"\n")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"asset": 3}', b'{"asset": "\xff"}', b"[" * 9999])
def test_a_damaged_record_rebuilds_its_partition(work: Work, content: bytes) -> None:
    record = work.folder / "corpus/ledger/minhashes/web--b.json"
    record.write_bytes(content)
    assert work.plan()["minhashes", "web--b"][0] == "missing"
    assert drive(opened(work.folder)).recomputed == {("minhashes", "web--b")}
    assert work.plan() == {}
