"""Fan-in over many shards, against a plain recomputation; and the same content for every engine and memory."""

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from corpus_assets.dedup.signatures.bands import band_keys
from corpus_assets.dedup.signatures.minhash import sign
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.mix.repeat import copies
from resources.documents.slimpajama_cleaning import cleaned_length
from resources.hashing import keyed_hash
from resources.stage.partition import Partition
from tests.build.small import Rows, contents, digests, drive, near, opened, prose, write_config, write_raw

SHARDS = 150
UNVERIFIED = {"dedup.verify": "none", "dedup.exact_first": False, "dedup.guard.action": "off"}
Texts = list[tuple[str, str, str]]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """150 shards of one to three documents; every seventh document repeats an earlier one, often in another shard."""
    folder = tmp_path_factory.mktemp("many")
    made: Rows = []
    for shard in range(SHARDS):
        source = ("books", "web", "notes")[shard % 3]
        rows: Rows = []
        for row in range(1 + shard % 3):
            text = prose(f"{shard} {row}", 14)
            if len(made) % 7 == 6:
                text = made[len(made) // 2]["text"] if len(made) % 2 else near(made[len(made) - 5]["text"])
            rows.append({"id": f"d{shard:03d}.{row}", "text": text if (shard, row) != (4, 1) else "Short."})
            made.append(rows[-1])
        write_raw(folder, f"{source}/s{shard:03d}.jsonl", rows)
    write_config(folder, UNVERIFIED)
    built = drive(opened(folder))
    assert not built.failed
    return folder


@pytest.fixture(scope="module")
def documents(many: Path) -> Texts:
    """(shard, id, text) of all documents in canonical order, read from the raw files."""
    found: Texts = []
    for source in ("books", "web", "notes"):
        for file in sorted((many / "raw" / source).iterdir()):
            for line in file.read_text(encoding="utf-8").splitlines():
                row = msgspec.json.decode(line)
                found.append((f"{source}--{file.stem}", row["id"], row.get("text", row.get("body"))))
    return found


def partition(folder: Path, asset: str, key: str | None) -> Partition:
    corpus = opened(folder)
    record = corpus.ledger.read(asset, key)
    assert record is not None
    return Partition(corpus.storage, record)


def all_keys(documents: Texts) -> Any:
    texts = [text for _, _, text in documents]
    signatures = np.concatenate(list(sign(texts, SignatureScheme("oph", 64, 1, 5))))
    takes_part = np.array([cleaned_length(text) >= 60 for _, _, text in documents])
    return band_keys(signatures, 3, 8, takes_part)


def plain_kept(documents: Texts) -> list[int]:
    """For every document the first of its component, by going over all pairs until nothing changes."""
    keys = all_keys(documents)
    pairs = [
        (a, b) for row in keys.tolist() for a, b in combinations(range(len(row)), 2) if row[a] == row[b] and row[a] != 0
    ]
    kept = list(range(len(documents)))
    changed = True
    while changed:
        changed = False
        for a, b in pairs:
            if kept[a] != kept[b]:
                kept[a] = kept[b] = min(kept[a], kept[b])
                changed = True
    return kept


def test_pairs_join_exactly_the_documents_with_equal_keys(many: Path, documents: Texts) -> None:
    for band, row in enumerate(all_keys(documents).tolist()):
        buckets: dict[int, list[int]] = {}
        for number, key in enumerate(row):
            buckets.setdefault(key, []).append(number)
        buckets.pop(0, None)
        expected = {(bucket[0], later) for bucket in buckets.values() for later in bucket[1:]}
        stored = partition(many, "duplicate_pairs", f"band-{band:02d}").array(".npy")
        assert {tuple(edge) for edge in stored.tolist()} == expected
        assert len(expected) > 10


def test_components_and_duplicates_keep_the_first_document_of_each(many: Path, documents: Texts) -> None:
    kept = plain_kept(documents)
    clusters = {number: count for number, count in Counter(kept).items() if count > 1}
    expected = [[n, kept[n], clusters[kept[n]]] for n in range(len(kept)) if kept[n] in clusters]
    assert partition(many, "components", None).array("clusters.npy").tolist() == expected
    rows = iter(range(len(documents)))
    for shard in dict.fromkeys(shard for shard, _, _ in documents):
        for line in partition(many, "duplicates", shard).lines():
            number = next(rows)
            row = msgspec.json.decode(line)
            assert row["id"] == documents[number][1]
            if kept[number] == number:
                assert "kept" not in row
            else:
                shard_kept, id_kept, _ = documents[kept[number]]
                first = next(n for n, (name, _, _) in enumerate(documents) if name == shard_kept)
                assert row["kept"].pop("cluster")
                source = shard_kept.partition("--")[0]
                row_kept = kept[number] - first
                assert row["kept"] == {"source": source, "id": id_kept, "shard": shard_kept, "row": row_kept}
                assert documents[first + row["kept"]["row"]][1] == id_kept
    assert next(rows, None) is None


def test_chunks_hold_every_kept_document_as_often_as_its_epochs_say(many: Path, documents: Texts) -> None:
    kept = plain_kept(documents)
    expected: dict[int, list[tuple[int, str, str]]] = {0: [], 1: [], 2: []}
    for number, (shard, name, text) in enumerate(documents):
        source = shard.partition("--")[0]
        if kept[number] != number or cleaned_length(text) < 60:
            continue
        for copy in range(copies(1.5 if source == "web" else 1.0, 0, source, name)):
            chunk = keyed_hash("chunk", 0, source, name, copy) % 3
            expected[chunk].append((keyed_hash("order", 0, source, name, copy), name, text))
    for chunk, wanted in expected.items():
        stored = partition(many, "mixed_pass2", f"chunk-{chunk:04d}").documents()
        assert [(document.id, document.text) for document in stored] == [row[1:] for row in sorted(wanted)]


def test_one_more_shard_is_read_by_every_fan_in(many: Path, documents: Texts, tmp_path: Path) -> None:
    write_raw(many, "web/zz.jsonl", [{"id": "late", "text": documents[0][2]}])
    built = drive(opened(many))
    assert built.of("normalized_documents") == {"web--zz"}
    assert built.of("duplicate_pairs") == {"band-00", "band-01", "band-02"}
    clusters = partition(many, "components", None).array("clusters.npy")
    late = sum(1 for shard, _, _ in documents if not shard.startswith("notes"))
    assert next(row for row in clusters.tolist() if row[0] == late)[1] == 0


@pytest.mark.parametrize(
    "engine",
    [{"workers": 0, "memory": 256}, {"workers": 1}, {"workers": 2}, {"workers": 4, "memory": "4 KiB"}],
    ids=str,
)
def test_the_content_does_not_depend_on_workers_or_memory(
    built_once: Path, tmp_path: Path, engine: dict[str, Any]
) -> None:
    for path in sorted((built_once / "raw").rglob("*")):
        if path.is_file():
            target = tmp_path / path.relative_to(built_once)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    write_config(tmp_path, {f"engine.{key}": value for key, value in engine.items()})
    corpus = opened(tmp_path)
    assert not drive(corpus).failed
    assert digests(corpus) == digests(opened(built_once))
    assert contents(corpus) == contents(opened(built_once))
