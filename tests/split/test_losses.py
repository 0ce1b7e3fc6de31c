"""A split that comes out empty holds back what reads it."""

from pathlib import Path
from typing import Any

from corpus_assets.mix.losses import mixed_losses
from corpus_assets.split.losses import WHOLLY_HELD_OUT, empty_notes, holdout_losses, split_losses
from resources.ledger.ledger import Record
from resources.shards.listing import Listing, Shard
from resources.stage.partition import Partition
from resources.storage.local.store import LocalStorage

SHARD = Shard("books--a", "books", "a", "/raw", "a.jsonl", 1, "1")
LISTING = Listing((SHARD,), ())


def record(**statistics: Any) -> Record:
    return Record(
        asset="a", partition=None, recipe="", digest="", inputs={}, parameters={}, code_version="1", files=[],
        statistics=statistics,
    )  # fmt: skip


def values(holdout: Any = None, *, may_be_empty: bool = False, epochs: float = 1.0) -> dict[str, Any]:
    source = {"name": "books", "holdout": None, "may_be_empty": may_be_empty, "epochs": epochs}
    return {"sources": [source], "split": {"holdout": holdout}, "mix": {"chunks": 3}}


def test_a_count_that_takes_every_text_is_told() -> None:
    whole: dict[str | None, Record] = {None: record(sources=1, **{WHOLLY_HELD_OUT: {"books": 30}})}
    (why,) = holdout_losses(whole, values({"count": 99}), LISTING)
    assert why.startswith("source books: a holdout of 99 documents takes all 30 texts that it has")
    assert holdout_losses(whole, values({"count": 99}, may_be_empty=True), LISTING) == []
    assert holdout_losses({None: record(sources=1)}, values({"count": 99}), LISTING) == []
    assert holdout_losses({}, values({"count": 99}), LISTING) == []


def test_a_split_without_a_document_is_told() -> None:
    rows: dict[str | None, Record] = {f"chunk-000{n}": record(rows_in=4 + n, rows_out=0) for n in (0, 1)}
    (why,) = split_losses(rows, values(), LISTING, "train")
    assert why.startswith("split train: none of 9 documents is left")
    assert split_losses(rows, values(may_be_empty=True), LISTING, "train") == []
    assert len(split_losses({**rows, "chunk-0003": record(rows_in=1, rows_out=1)}, values(), LISTING, "train")) == 1
    assert split_losses({**rows, "chunk-0002": record(rows_in=1, rows_out=1)}, values(), LISTING, "train") == []
    assert split_losses({"chunk-0000": record(rows_in=0, rows_out=0)}, values(), LISTING, "train") == []


def test_a_source_of_which_nothing_is_left_to_mix_is_told() -> None:
    def told(dropped: dict[str, int], rows_out: int = 0, **options: Any) -> list[str]:
        records: dict[str | None, Record] = {"books--a": record(rows_out=rows_out, dropped=dropped)}
        return mixed_losses(records, values(**options), LISTING)

    (why,) = told({"short": 9})
    assert why.startswith("source books: none of 9 documents is left for the mix (short 9)")
    assert told({"short": 9}, rows_out=1) == told({"duplicate": 9}) == told({"not_in_this_epoch": 1}) == told({}) == []
    assert told({"short": 9}, may_be_empty=True) == told({"short": 9}, epochs=0) == []


def test_a_held_out_split_without_documents_is_noted() -> None:
    def told(split: str, rows_in: int, rows_out: int, **section: Any) -> list[str]:
        settings = {**values(), "split": {"holdout": 0.1, "validation": 0.5, **section}}
        made = Partition(LocalStorage(Path("unused")), record(rows_in=rows_in, rows_out=rows_out))
        return list(empty_notes([made], settings, split))

    assert told("validation", 4, 0) == ["split validation is empty: none of 4 documents is in it, and its share is 0.5"]
    assert len(told("holdout", 10, 0)) == len(told("holdout", 1, 0, holdout={"count": 5})) == 1
    assert len(told("test", 4, 0)) == 1
    assert told("holdout", 9, 0) == told("holdout", 10, 1) == told("holdout", 0, 0, holdout={"count": 5}) == []
    assert told("validation", 4, 0, validation=0) == told("test", 4, 0, validation=1) == []
