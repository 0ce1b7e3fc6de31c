"""The check `fresh` says what the plan says, whoever made the plan, and is written only when that changed."""

from pathlib import Path

import dagster as dg
import pytest

from corpus_assets.definitions import definitions
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.freshness.checks import check_key, tell
from corpus_assets.orchestration.freshness.state import TOLD, freshness, is_told, remember
from corpus_assets.orchestration.home.postgres import VARIABLE
from corpus_assets.orchestration.jobs import build_job
from corpus_assets.orchestration.sensor import corpus_sensor
from tests.build.small import prose, write_config, write_raw
from tests.orchestration.runs import Runs
from tests.orchestration.silent import Silent


def build_all(runs: Runs, *select: str) -> None:
    corpus = runs.corpus
    stages = corpus.graph.select(list(select)) if select else list(corpus.graph)
    build(corpus, stages, Silent(), instance=runs.instance)


def change(runs: Runs, name: str = "new") -> None:
    rows = [{"id": f"{name}-{n}", "text": prose(f"{name} {n}")} for n in range(4)]
    write_raw(runs.folder, "books/three.jsonl", rows)


def look(runs: Runs) -> None:
    """The sensor looks."""
    corpus_sensor(runs.corpus, build_job(runs.corpus))(dg.build_sensor_context(instance=runs.instance))


def results(runs: Runs) -> int:
    """How many results of the check there ever were."""
    storage = runs.instance.event_log_storage
    return sum(
        len(storage.get_asset_check_execution_history(check_key(stage.name), limit=100)) for stage in runs.corpus.graph
    )


def test_a_build_leaves_everything_fresh_and_the_next_look_writes_nothing(runs: Runs) -> None:
    build_all(runs)
    marks = runs.marks()
    assert marks.keys() == set(runs.corpus.graph.stages)
    assert {passed for passed, _ in marks.values()} == {True}
    assert marks["normalized_documents"] == (True, "all 7 partitions are fresh")
    assert marks["components"] == (True, "fresh")
    written = results(runs)
    build_all(runs)
    look(runs)
    assert results(runs) == written


def test_a_changed_file_is_seen_by_the_sensor_far_down_the_graph(runs: Runs) -> None:
    build_all(runs)
    change(runs)
    look(runs)
    marks = runs.marks()
    assert marks["raw_source"] == (False, "1 stale: raw shard books/three.jsonl changed")
    assert marks["normalized_documents"] == (False, "1 waiting: raw shard books/three.jsonl changed")
    assert marks["train_tokens"] == (False, "3 waiting: raw shard books/three.jsonl changed")
    assert marks["inventory"] == (False, "1 stale: books--three changed")
    written = results(runs)
    look(runs)
    assert results(runs) == written
    build_all(runs)
    assert {passed for passed, _ in runs.marks().values()} == {True}


def test_a_build_of_some_stages_marks_what_follows_them(runs: Runs) -> None:
    build_all(runs)
    change(runs)
    build_all(runs, "+normalized_documents")
    marks = runs.marks()
    assert marks["normalized_documents"][0]
    assert marks["minhashes"] == (False, "1 stale: normalized_documents/books--three changed")
    assert not marks["train_tokens"][0]


def test_a_change_that_is_taken_back_is_told_by_a_build_with_nothing_to_do(runs: Runs) -> None:
    build_all(runs)
    config = (runs.folder / "corpus.yaml").read_text()
    write_config(runs.folder, {"short_documents.threshold": 70})
    look(runs)
    assert runs.marks()["short_documents"] == (False, "7 stale: short_documents.threshold 60 -> 70")
    (runs.folder / "corpus.yaml").write_text(config)
    build_all(runs)
    assert {passed for passed, _ in runs.marks().values()} == {True}


def test_a_failure_is_the_cause_that_is_named(runs: Runs) -> None:
    build_all(runs)
    (runs.folder / "raw/books/two.jsonl.gz").write_bytes(b"this is no gzip file")
    build_all(runs)
    passed, words = runs.marks()["normalized_documents"]
    assert not passed
    assert words.startswith("1 failed: books/two.jsonl.gz")
    passed, words = runs.marks()["train"]
    assert not passed
    assert words.startswith("3 waiting: books/two.jsonl.gz")


def test_a_check_is_executed_by_itself_and_with_its_asset(built: Runs) -> None:
    job = definitions(built.corpus).resolve_implicit_global_asset_job_def()
    change(built)
    alone = job.get_subset(asset_selection=set(), asset_check_selection={check_key("raw_source")})
    assert alone.execute_in_process(instance=built.instance).success
    assert built.marks()["raw_source"] == (False, "1 stale: raw shard books/three.jsonl changed")
    assert built.events("raw_source") == []
    assert built.materialize("normalized_documents", partition="books--three").success
    assert built.marks()["normalized_documents"][0]


def test_an_asset_materialized_by_hand_marks_those_after_it(runs: Runs) -> None:
    build_all(runs)
    change(runs)
    assert runs.materialize("normalized_documents", partition="books--three").success
    marks = runs.marks()
    assert marks["normalized_documents"][0]
    assert marks["minhashes"] == (False, "1 stale: normalized_documents/books--three changed")


def test_what_was_never_materialized_is_not_marked(empty: Runs) -> None:
    corpus = empty.corpus
    assert tell(corpus, empty.instance, freshness(corpus.planner())) == 0
    assert empty.marks() == {}


def test_what_was_said_is_remembered_for_one_database(
    built: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    corpus = built.corpus
    found = freshness(corpus.planner())
    home = tmp_path / "home"
    assert not is_told(corpus.storage, home, found)
    remember(corpus.storage, home, found)
    assert is_told(corpus.storage, home, found)
    assert not is_told(corpus.storage, tmp_path / "other", found)
    monkeypatch.setenv(VARIABLE, "postgresql+psycopg2://user:secret@host/db")
    assert not is_told(corpus.storage, home, found)
    remember(corpus.storage, home, found)
    assert is_told(corpus.storage, home, found)
    with corpus.storage.open(TOLD) as note:
        assert b"secret" not in note.read()
    monkeypatch.setenv(VARIABLE, "")
    assert not is_told(corpus.storage, home, found)
    remember(corpus.storage, home, found)
    change(built)
    assert not is_told(corpus.storage, home, freshness(built.corpus.planner()))


@pytest.mark.parametrize("content", [b"", b"{", b'{"database": 1}', b"\xff\xfe"])
def test_a_damaged_note_says_nothing(built: Runs, tmp_path: Path, content: bytes) -> None:
    corpus = built.corpus
    corpus.storage.write(TOLD, content)
    assert not is_told(corpus.storage, tmp_path, freshness(corpus.planner()))
