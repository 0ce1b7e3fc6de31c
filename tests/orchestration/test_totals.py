"""The newest event of an asset has the sums over its partitions, and leaves their states and versions alone."""

from collections.abc import Mapping

import dagster as dg
import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.shown.totals import totals
from resources.stage.declaration import Partitioning
from tests.build.small import prose, write_config, write_raw
from tests.orchestration.runs import Runs
from tests.orchestration.test_freshness import build_all, change
from tests.orchestration.test_staleness import stale


def value(event: dg.AssetMaterialization, label: str) -> object:
    return event.metadata[label].value


def partitioned(corpus: Corpus) -> list[str]:
    return [stage.name for stage in corpus.graph if stage.partitioning is not Partitioning.NONE]


def test_a_build_ends_with_the_sums_of_every_partitioned_asset(empty: Runs) -> None:
    build_all(empty)
    corpus = empty.corpus
    for asset in partitioned(corpus):
        records = corpus.ledger.records(asset)
        total = empty.total(asset)
        assert total.partition is None
        assert value(total, "partitions built") == f"{len(records)} of {len(records)}"
        if all("rows_out" in record.statistics for record in records.values()):
            rows = sum(record.statistics["rows_out"] for record in records.values())
            assert value(total, "dagster/row_count") == rows
        assert empty.instance.get_materialized_partitions(dg.AssetKey(asset)) == set(records)
        assert empty.versions(asset) == empty.recorded(asset)
    assert stale(empty) == set()


def test_sums_are_told_again_after_a_change_and_only_then(empty: Runs) -> None:
    build_all(empty)
    tokens = value(empty.total("train_tokens"), "tokens")
    change(empty)
    build_all(empty)
    assert value(empty.total("train_tokens"), "tokens") != tokens
    newest = _newest(empty)
    build_all(empty)
    assert _newest(empty) == newest


def _newest(runs: Runs) -> int:
    return runs.instance.fetch_materializations(dg.AssetKey("train_tokens"), limit=1).records[0].storage_id


def test_a_raw_file_that_is_gone_is_gone_from_the_sums(empty: Runs) -> None:
    build_all(empty)
    documents = value(empty.total("minhashes"), "dagster/row_count")
    (empty.folder / "raw/books/three.jsonl").unlink()
    build_all(empty)
    assert value(empty.total("minhashes"), "partitions built") == "6 of 6"
    assert value(empty.total("minhashes"), "dagster/row_count") == documents - 6  # type: ignore[operator]


def test_a_partition_by_hand_is_followed_by_the_sums(built: Runs) -> None:
    write_raw(built.folder, "books/one.jsonl", [{"id": "other", "text": prose("other")}])
    assert built.materialize("normalized_documents", partition="books--one").success
    total = built.total("normalized_documents")
    records = built.corpus.ledger.records("normalized_documents").values()
    assert value(total, "dagster/row_count") == sum(record.statistics["rows_out"] for record in records)
    assert value(total, "partitions built") == "7 of 7"


def test_sums_by_source_add_up(built: Runs) -> None:
    planner = built.corpus.planner()
    (event,) = totals(planner, [planner.graph["normalized_documents"]]).values()
    lines = str(value(event, "by source")).splitlines()
    heads = [cell.strip() for cell in lines[0].strip("| ").split("|")]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines[2:]]
    assert [row[0] for row in rows] == ["books", "web", "notes"]
    column = heads.index("documents out")
    assert sum(int(row[column]) for row in rows) == value(event, "dagster/row_count")


def test_a_shuffled_dataset_has_the_tokens_of_its_sequences(built: Runs) -> None:
    dataset: Mapping[str, object] = {"name": "train", "input": "decontaminated_train", "sequence_length": 64}
    write_config(built.folder, {"datasets": [{**dataset, "shuffle": True}]})
    build_all(built)
    total, made = built.total("train_tokens"), built.total("train_sequences")
    for label in ("tokens", "padding (tokens)", "full (%)", "tokens in the loss", "bytes per token", "vocabulary"):
        assert value(total, label) == value(made, label)
    rows, length = (value(total, label) for label in ("dagster/row_count", "sequence length"))
    assert value(total, "tokens") + value(total, "padding (tokens)") == rows * length  # type: ignore[operator]


def test_nothing_built_has_no_sums(empty: Runs) -> None:
    planner = empty.corpus.planner()
    assert totals(planner, list(planner.graph)) == {}


@pytest.mark.parametrize("asset", ["inventory", "components", "train_token_params"])
def test_an_asset_without_partitions_needs_no_sums(built: Runs, asset: str) -> None:
    planner = built.corpus.planner()
    assert totals(planner, [planner.graph[asset]]) == {}
