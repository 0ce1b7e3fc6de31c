"""What Dagster shows of assets while not all is fresh: checks, partitions and sums are right after a look."""

import shutil
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest
import yaml

from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.jobs import build_job
from corpus_assets.orchestration.sensor import corpus_sensor
from resources.errors import ConfigError, StorageError
from tests.orchestration.runs import Runs
from tests.orchestration.silent import Silent


def built_here(runs: Runs) -> Runs:
    """Build all there is, and tell Dagster."""
    build(runs.corpus, list(runs.corpus.graph), Silent(), instance=runs.instance)
    return runs


def tick(runs: Runs) -> dg.RunRequest | dg.SkipReason:
    """One look of the sensor."""
    corpus = runs.corpus
    found = corpus_sensor(corpus, build_job(corpus))(dg.build_sensor_context(instance=runs.instance))
    assert isinstance(found, dg.RunRequest | dg.SkipReason)
    return found


def counted(runs: Runs, asset: str) -> str:
    """How many partitions of an asset the web UI says are built."""
    return str(runs.total(asset).metadata["partitions built"].value)


def _cut_record(folder: Path) -> None:
    next((folder / "corpus/ledger/normalized_documents").rglob("*one*")).write_bytes(b"{")


def _cut_file(folder: Path) -> None:
    (folder / "corpus/documents/books/one.jsonl.gz").write_bytes(b"x")


def _lost_file(folder: Path) -> None:
    (folder / "corpus/documents/books/one.jsonl.gz").unlink()


@pytest.mark.parametrize("damage", [_cut_record, _cut_file, _lost_file])
def test_what_is_damaged_is_fresh_nowhere_below_it_and_one_run_mends_it(
    runs: Runs, damage: Callable[[Path], None]
) -> None:
    damage(built_here(runs).folder)
    request = tick(runs)
    assert isinstance(request, dg.RunRequest)
    marks = runs.marks()
    assert marks["raw_source"] == (True, "all 7 partitions are fresh")
    assert marks["normalized_documents"][1].startswith(("1 missing: ", "1 stale: "))
    cause = marks["normalized_documents"][1].partition(": ")[2]
    assert marks["train_tokens"] == (False, f"3 waiting: {cause}")
    assert build_job(runs.corpus).execute_in_process(instance=runs.instance, tags=request.tags).success
    assert {passed for passed, _ in runs.marks().values()} == {True}
    assert isinstance(tick(runs), dg.SkipReason)


def test_a_store_that_is_gone_is_missing_everywhere(runs: Runs) -> None:
    shutil.rmtree(built_here(runs).folder / "corpus")
    tick(runs)
    marks = runs.marks()
    assert {passed for passed, _ in marks.values()} == {False}
    assert marks["normalized_documents"] == (False, "7 missing: new shard")


def test_orphans_are_in_no_partition_check_or_sum(runs: Runs) -> None:
    (built_here(runs).folder / "raw/books/two.jsonl.gz").unlink()
    tick(runs)
    assert "books--two" not in runs.shards()
    assert runs.marks()["inventory"] == (False, "1 stale: books--two removed")
    built_here(runs)
    assert runs.corpus.planner().orphans()
    assert {passed for passed, _ in runs.marks().values()} == {True}
    assert runs.marks()["normalized_documents"] == (True, "all 6 partitions are fresh")
    assert {counted(runs, name) for name in ("raw_source", "normalized_documents", "mixed_pass1")} == {"6 of 6"}


def test_an_empty_source_is_the_cause_that_every_asset_and_the_tick_name(runs: Runs) -> None:
    for file in (built_here(runs).folder / "raw/notes").iterdir():
        file.unlink()
    built_here(runs)
    skipped = tick(runs)
    assert isinstance(skipped, dg.SkipReason)
    assert "source notes: no file in" in (skipped.skip_message or "")
    marks = runs.marks()
    assert not marks["train_tokens"][0]
    assert "source notes: no file in" in marks["train_tokens"][1]
    assert counted(runs, "raw_source") == "5 of 5"


def test_where_no_plan_can_be_made_no_asset_stays_fresh(runs: Runs) -> None:
    folder = built_here(runs).folder
    (folder / "raw/web").rename(folder / "elsewhere")
    with pytest.raises(ConfigError, match=r"sources\.web\.location"):
        tick(runs)
    marks = runs.marks()
    assert marks.keys() == set(runs.corpus.graph.stages)
    assert all(not passed and "no plan can be made: sources.web.location" in words for passed, words in marks.values())
    (folder / "elsewhere").rename(folder / "raw/web")
    assert isinstance(tick(runs), dg.SkipReason)
    assert {passed for passed, _ in runs.marks().values()} == {True}


def test_while_another_builder_holds_a_part_the_tick_names_it_and_marks_stay(runs: Runs) -> None:
    built_here(runs)
    runs.corpus.ledger.forget("components", None)
    before = runs.marks()
    run = runs.instance.create_run_for_job(build_job(runs.corpus), status=dg.DagsterRunStatus.STARTED)
    waiting = tick(runs)
    assert isinstance(waiting, dg.SkipReason)
    assert f"runs are active ({run.run_id[:8]})" in (waiting.skip_message or "")
    assert runs.marks() == before
    runs.instance.report_run_failed(run)
    assert isinstance(tick(runs), dg.RunRequest)
    assert not runs.marks()["components"][0]


def test_over_the_store_of_another_corpus_no_asset_is_fresh_and_no_run_is_launched(runs: Runs) -> None:
    folder = built_here(runs).folder
    tick(runs)
    assert {passed for passed, _ in runs.marks().values()} == {True}
    other = folder.parent / "other"
    shutil.copytree(folder / "raw", other / "raw")
    written = (folder / "corpus.yaml").read_text()
    store = {"root": str(folder / "corpus")}
    written = yaml.safe_load((folder / "corpus.yaml").read_text())
    (other / "corpus.yaml").write_text(yaml.safe_dump({**written, "name": "another", "storage": store}))
    strangers = Runs(other, runs.instance)
    with pytest.raises(StorageError, match="belongs to corpus 'small'"):
        tick(strangers)
    marks = strangers.marks()
    assert marks.keys() == set(strangers.corpus.graph.stages)
    assert all(not passed and "belongs to corpus 'small'" in words for passed, words in marks.values())


def test_a_failed_partition_is_named_by_every_asset_below_it_and_not_tried_again_at_once(runs: Runs) -> None:
    (built_here(runs).folder / "raw/books/two.jsonl.gz").write_bytes(b"this is no gzip file")
    built_here(runs)
    skipped = tick(runs)
    assert isinstance(skipped, dg.SkipReason)
    assert "what can start has failed: normalized_documents/books--two: " in (skipped.skip_message or "")
    marks = runs.marks()
    assert {name for name, (passed, _) in marks.items() if passed} == {"inventory", "raw_source", "tokenizer"}
    assert marks["normalized_documents"][1].startswith("1 failed: books/two.jsonl.gz: ")
    assert all("books/two.jsonl.gz" in words for passed, words in marks.values() if not passed)
