"""Mixing and splitting through the real stages: exact epochs, places that stay, a holdout without copies in train."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.mix.repeat import copies
from tests.data.building import (
    assert_conserved,
    build,
    documents,
    dropped,
    open_corpus,
    partitions,
    records,
    rows_of,
    write_rows,
)

EPOCHS = {"once": 1.0, "twice": 2.5, "quarter": 0.25, "never": 0.0}
DOCUMENTS = 60
PLAIN: dict[str, Any] = {
    "short_documents": {"threshold": 0},
    "minhash": {"permutations": 8, "width": 4, "bands": 1, "rows": 8},
    "mix": {"chunks": 3},
    "split": {"holdout": 0.2},
}
SPLITS = ("train", "holdout", "validation", "test", "decontaminated_train")


def text(name: str) -> str:
    return " ".join(hashlib.sha256(f"{name} {number}".encode()).hexdigest() for number in range(6))


def write_source(folder: Path, source: str, shards: int = 2) -> None:
    for shard in range(shards):
        names = [f"{source}-{shard}-{number}" for number in range(DOCUMENTS // 2)]
        write_rows(folder / "raw" / source / f"{shard}.jsonl", [{"id": name, "text": text(name)} for name in names])


def sources(**more: Any) -> list[dict[str, Any]]:
    return [{"name": name, "location": f"raw/{name}", "epochs": epochs, **more} for name, epochs in EPOCHS.items()]


def built(folder: Path, changes: Mapping[str, Any] | None = None) -> Corpus:
    for name in EPOCHS:
        if not (folder / "raw" / name).exists():
            write_source(folder, name)
    corpus = open_corpus(folder, {"sources": sources(), **PLAIN, **(changes or {})})
    build(corpus, ["+decontaminated_train", "validation", "test"])
    return corpus


def chunks(corpus: Corpus, asset: str) -> list[list[str]]:
    return [[document.id for document in partition.documents()] for partition in partitions(corpus, asset)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return built(tmp_path_factory.mktemp("mixed"))


def test_every_document_is_used_as_often_as_its_epochs_say(corpus: Corpus) -> None:
    used = Counter((document.source, document.id) for document in documents(corpus, "mixed_pass2"))
    kept = [(document.source, document.id) for document in documents(corpus, "normalized_documents")]
    assert used == +Counter({key: copies(EPOCHS[key[0]], 0, *key) for key in kept})
    assert {used[key] for key in kept if key[0] == "once"} == {1}
    assert {used[key] for key in kept if key[0] == "twice"} == {2, 3}
    assert {used[key] for key in kept if key[0] == "quarter"} == {0, 1}
    assert {used[key] for key in kept if key[0] == "never"} == {0}


def test_rows_are_conserved_and_what_is_not_used_is_counted(corpus: Corpus) -> None:
    assert_conserved(corpus)
    assert rows_of(corpus, "normalized_documents") == DOCUMENTS * len(EPOCHS)
    unused = DOCUMENTS * len(EPOCHS) - rows_of(corpus, "mixed_pass1", "documents")
    assert dropped(corpus, "mixed_pass1") == {"not_in_this_epoch": unused}
    assert unused > DOCUMENTS


def test_row_tables_tell_what_the_lines_hold(corpus: Corpus) -> None:
    for asset in ("mixed_pass2", *SPLITS):
        for partition in partitions(corpus, asset):
            rows, found = partition.array(".rows.npy"), list(partition.documents())
            assert [document.source.encode() for document in found] == rows["source"].tolist()
            assert [hashlib.sha256(d.text.encode()).digest() for d in found] == [bytes(row) for row in rows["digest"]]
            assert [len(document.text.encode()) for document in found] == rows["bytes"].tolist()
            assert sum(rows["bytes"].tolist()) == partition.record.statistics["text_bytes"]


def test_a_held_out_document_is_there_once_and_never_in_train(corpus: Corpus) -> None:
    train = {document.text for document in documents(corpus, "train")}
    held = [document.text for document in documents(corpus, "holdout")]
    assert len(held) == len(set(held)) > 10
    assert not train & set(held)
    assert {document.source for document in documents(corpus, "holdout")} >= {"once", "twice"}


def test_validation_and_test_part_the_holdout_in_order(corpus: Corpus) -> None:
    for held, first, second in zip(*(chunks(corpus, name) for name in ("holdout", "validation", "test")), strict=True):
        assert not set(first) & set(second)
        assert [name for name in held if name in set(first)] == first
        assert [name for name in held if name in set(second)] == second
        assert len(first) + len(second) == len(held)


def test_train_keeps_the_order_of_its_chunk(corpus: Corpus) -> None:
    for mixed, train in zip(chunks(corpus, "mixed_pass2"), chunks(corpus, "train"), strict=True):
        assert [name for name in mixed if name in set(train)] == train


def test_another_shard_leaves_every_document_in_its_place(tmp_path: Path) -> None:
    before = built(tmp_path)
    old = {asset: chunks(before, asset) for asset in ("mixed_pass2", *SPLITS)}
    write_source(tmp_path, "once", shards=3)
    after = built(tmp_path)
    for asset, lists in old.items():
        now = chunks(after, asset)
        assert [[name for name in ids if not name.startswith("once-2-")] for ids in now] == lists
        assert sum(map(len, now)) > sum(map(len, lists)) or asset in ("validation", "test", "holdout")


def test_memory_and_the_number_of_workers_change_nothing(corpus: Corpus, tmp_path: Path) -> None:
    tight = built(tmp_path, {"engine": {"workers": 1, "memory": "16 KiB"}})
    for asset in ("mixed_pass2", *SPLITS):
        assert [r.digest for r in records(tight, asset)] == [r.digest for r in records(corpus, asset)]


def test_holdout_by_count_is_exact_per_source(tmp_path: Path) -> None:
    own = [{**source, "holdout": {"count": 0} if source["name"] == "quarter" else None} for source in sources()]
    corpus = built(tmp_path, {"sources": own, "split": {"holdout": {"count": 5}}})
    held = Counter(document.source for document in documents(corpus, "holdout"))
    assert held == {"once": 5, "twice": 5}
    assert_conserved(corpus)


def test_equal_texts_stay_on_one_side_and_are_cleaned_across_sources(tmp_path: Path) -> None:
    """Without deduplication: short documents never pair, so their exact copies live on to the split."""
    names = [str(number) for number in range(80)]
    for source in ("a", "b"):
        for shard in range(2):
            rows = [{"id": f"{source}{shard}{name}", "text": name.zfill(3)} for name in names]
            write_rows(tmp_path / "raw" / source / f"{shard}.jsonl", rows)
    places = [{"name": name, "location": f"raw/{name}", "epochs": 2.0} for name in ("a", "b")]
    values = {"sources": places, **PLAIN, "minhash": {**PLAIN["minhash"], "width": 5}, "dedup": {"exact_first": False}}
    corpus = open_corpus(tmp_path, values)
    build(corpus, ["+decontaminated_train", "validation", "test"])
    held, train, clean = (list(documents(corpus, name)) for name in ("holdout", "train", "decontaminated_train"))
    for source in ("a", "b"):
        inside = Counter(document.text for document in held if document.source == source)
        assert set(inside.values()) == {2}
        assert not set(inside) & {document.text for document in train if document.source == source}
    texts = {document.text for document in held}
    assert [d for d in train if d.text not in texts] == clean
    assert len(train) > len(clean)
    assert_conserved(corpus)
    assert dropped(corpus, "decontaminated_train") == {"text_in_holdout": len(train) - len(clean)}
