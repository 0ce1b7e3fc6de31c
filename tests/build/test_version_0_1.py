"""A corpus built by version 0.1 is all fresh but for its pairs: the golden plan behind every move and every new name.

`version_0_1/` holds its configuration, raw files, a module with stages of the user's own, and all commit records.
Three defaults are others since: `compat: version-0.1` in its configuration keeps those that it was built with; and
`keep_empty: false` a value that the profile of a dataset did not set then. The stages from band keys to components have
other partitions since: they are computed once more, with the same clusters.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.corpus import Corpus
from resources.ledger import Record, recipe_digest
from tests.build.small import drive, opened, statuses, write_raw

BEFORE = Path(__file__).parent / "version_0_1"
BY_RANGE = {"exact_duplicates", "candidate_pairs", "verified_pairs"}
RENEWED = {"band_keys", "duplicate_pairs", "components", *BY_RANGE}
OLD_NAMES = ("tokens/train", "sequences/pairs", "data_params/fim-x", "examples/questions", "tokenizers/questions")


def old_records() -> dict[str, dict[str, Any]]:
    """Every commit record, by its path in the ledger."""
    return dict(json.loads(line) for line in (BEFORE / "records.jsonl").read_text(encoding="utf-8").splitlines())


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The corpus as version 0.1 left it; its files have their sizes and nothing in them."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "my_stages", raising=False)
    top = tmp_path / "corpus"
    shutil.copytree(BEFORE, top, ignore=shutil.ignore_patterns("records.jsonl", "__pycache__"))
    for path, record in old_records().items():
        place = top / "corpus" / "ledger" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(record), encoding="utf-8")
        for file in record["files"]:
            stored = top / "corpus" / file["path"]
            stored.parent.mkdir(parents=True, exist_ok=True)
            with stored.open("wb") as empty:
                empty.truncate(file["bytes"])
    yield top
    sys.modules.pop("my_stages", None)


@pytest.fixture
def folder(left: Path) -> Path:
    """The same after the stages from band keys to components were computed once more: with the same clusters."""
    corpus = opened(left)
    for stage in (corpus.graph[name] for name in corpus.graph.stages if name in RENEWED):
        planner = corpus.planner()
        for key in planner.partitions(stage):
            before = corpus.ledger.read(stage.name, key)
            parameters, inputs = planner.parameters(stage, key), planner.inputs(stage, key)
            record = Record(
                asset=stage.name,
                partition=key,
                recipe=recipe_digest(stage.name, stage.code_version, parameters, inputs),
                digest=before.digest if before else str(key),
                inputs=inputs,
                parameters=parameters,
                code_version=stage.code_version,
                files=before.files if before else [],
                segments=dict(before.segments if before else {})
                | dict.fromkeys(corpus.settings.ranges(), "of a range"),
                statistics=before.statistics if before else {},
            )
            corpus.ledger.write(record)
    return left


def ledger_folders(folder: Path) -> set[str]:
    ledger = folder / "corpus" / "ledger"
    return {str(file.parent.relative_to(ledger)) for file in ledger.rglob("*.json") if ".snapshots" not in file.parts}


def test_the_fixture_is_of_that_version() -> None:
    records = old_records()
    assert len(records) > 100
    assert {record["asset"] for record in records.values()} >= set(OLD_NAMES)
    for record in records.values():
        made_from = (record["asset"], record["code_version"], record["parameters"], record["inputs"])
        assert recipe_digest(*made_from) == record["recipe"]


def test_pairs_are_computed_once_more_and_nothing_else_unless_clusters_change(left: Path) -> None:
    found = statuses(opened(left).planner().plan())
    assert {asset for (asset, _), (status, _) in found.items() if status != "waiting"} == RENEWED - {"components"}
    assert {reason for (asset, _), (_, reason) in found.items() if asset == "band_keys"} == {"code version 2 -> 3"}


def test_all_is_fresh_and_only_pairs_of_the_whole_corpus_are_orphans(folder: Path) -> None:
    before = ledger_folders(folder)
    plan = opened(folder).planner().plan()
    assert statuses(plan) == {}
    assert plan.orphans == [("exact_duplicates", None), ("verified_pairs", None)]
    by_range = len(BY_RANGE) * len(opened(folder).settings.ranges())
    assert len(plan.decisions) == len(old_records()) - 2 + by_range + 1  # It had no report.
    assert ledger_folders(folder) == before


def test_a_build_computes_nothing_and_takes_the_records_over(folder: Path) -> None:
    built = drive(opened(folder))
    assert (built.recomputed, built.failed, built.waiting) == (set(), [], [])
    with opened(folder).exclusive():
        pass
    assert not any("/" in name for name in ledger_folders(folder))
    assert statuses(opened(folder).planner().plan()) == {}
    records = opened(folder).ledger.records("train_tokens").values()
    assert {record.recipe for record in records} == {
        recipe_digest(record.asset, record.code_version, record.parameters, record.inputs) for record in records
    }


def test_old_names_select_and_name_what_they_did(folder: Path) -> None:
    corpus = opened(folder)
    for old, new in (("tokens/train", "train_tokens"), ("tokenizers/questions", "questions_tokenizer")):
        assert corpus.graph.select([old]) == corpus.graph.select([new])
        assert corpus.graph[old].name == new
    old_group = {stage.name for stage in corpus.graph.select(["group:tokenize"])}
    assert {"train_tokens", "train_token_params", "pairs_sequences", "questions_tokenizer"} <= old_group
    assert {"questions_examples", "questions_raw_source"} <= {
        stage.name for stage in corpus.graph.select(["group:raw"])
    }
    assert opened(folder).ledger.read("train_tokens", "chunk-0000") is not None


@pytest.mark.parametrize(
    ("change", "stale"),
    [
        ({"short_documents.threshold": 61}, "short_documents"),
        ({"minhash.rows": 7}, "band_keys"),
        ({"datasets.0.sequence_length": 63}, "train_sequences"),
        ({"datasets.4.input.on_bad_row": "fail"}, "questions_examples"),
    ],
)
def test_what_changed_since_is_stale(folder: Path, change: dict[str, Any], stale: str) -> None:
    reconfigure(folder, change)
    found = statuses(opened(folder).planner().plan())
    assert {status for (asset, _), (status, _) in found.items() if asset == stale} == {"stale"}
    ((key, value),) = change.items()
    assert any(key.rpartition(".")[2] in reason and str(value) in reason for _, reason in found.values())


def test_the_defaults_of_today_are_others_and_the_plan_says_so(folder: Path) -> None:
    reconfigure(folder, {"compat": None})
    found = statuses(opened(folder).planner().plan())
    reasons = "; ".join(reason for _, reason in found.values())
    assert "minhash.family affine32 -> oph" in reasons
    assert not {"normalized_documents", "short_documents"} & {asset for asset, _ in found}


def reconfigure(folder: Path, change: dict[str, Any]) -> None:
    import yaml

    config = yaml.safe_load((folder / "corpus.yaml").read_text())
    for key, value in change.items():
        *path, last = key.split(".")
        section = config
        for part in path:
            section = section[int(part)] if isinstance(section, list) else section.setdefault(part, {})
        section[last] = value
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config))


def test_a_new_raw_file_and_a_changed_one_are_told_from_the_old(folder: Path) -> None:
    write_raw(folder, "books/four.jsonl", [{"id": "new", "text": "words " * 40}])
    (folder / "raw/pairs/0.jsonl").write_text('{"prompt": "a", "completion": "b"}\n')
    found = statuses(opened(folder).planner().plan())
    assert found["raw_source", "books--four"] == ("missing", "new shard")
    assert found["pairs_raw_source", "pairs--0"][0] == "stale"
    assert "pairs--1" not in {key for asset, key in found if asset == "pairs_examples"}


def test_a_crash_while_records_are_taken_over_loses_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = opened(folder)
    forget = type(corpus.ledger).forget
    calls = []

    def dies(self: Any, asset: str, partition: str | None) -> None:
        calls.append(asset)
        if len(calls) == 3:
            raise KeyboardInterrupt
        forget(self, asset, partition)

    with monkeypatch.context() as patch:
        patch.setattr(type(corpus.ledger), "forget", dies)
        with pytest.raises(KeyboardInterrupt), corpus.exclusive():
            pass
    assert statuses(Corpus.open(folder / "corpus.yaml").planner().plan()) == {}
    with opened(folder).exclusive():
        pass
    assert statuses(opened(folder).planner().plan()) == {}
    assert not any("/" in name for name in ledger_folders(folder))
