"""Datasets of texts through the product: filter, decontamination, takedown, weights, workers, checks, commands."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.file_faults import manifest_faults
from corpus_assets.export.texts.datasets import TextDataset, text_datasets
from corpus_assets.export.texts.file_faults import faults_of
from corpus_assets.viewer.app import standing_alone
from tests.build.small import contents, drive, opened, prose, write_raw, write_small
from tests.export.exported import exported, folder_of, manifest_of, partitions
from tests.export.test_trace import traced
from tests.export.texts.made import all_rows, dataset, rows_of, write_own

PAIRS = [{"id": f"p{n}", "prompt": f"q{n}", "completion": f"a{n}", "label": n % 3 != 1 or None} for n in range(9)]
OWN: dict[str, Any] = {"input": {"location": "own/pairs"}}


def faults(corpus: Corpus) -> list[str]:
    """What the checks of all datasets of texts find."""
    found: list[str] = []
    for one in text_datasets(corpus.settings.values["datasets"]):
        given = {made.key or "": made.record for made in partitions(corpus, one.rows_from)}
        made, (manifest,) = partitions(corpus, f"{one.name}_texts"), partitions(corpus, f"{one.name}_manifest")
        found += [fault for part in made for fault in faults_of(part.record, one, corpus.storage, given)]
        found += manifest_faults(made, manifest)
    return found


def run(folder: Path, *arguments: str) -> str:
    """The output of a command."""
    done = CliRunner().invoke(app, [*arguments, "--config", str(folder / "corpus.yaml")], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with a filter, a benchmark, texts of two splits, and labelled pairs."""
    folder = tmp_path_factory.mktemp("texts")
    write_small(folder)
    item = prose("item", words=60)
    rows = [{"id": f"more-{n}", "text": prose(f"more {n}"), "metadata": {"page": n}} for n in range(6)]
    rows += [{"id": "leaked", "text": f"{prose('x')} {item}"}, {"id": "loud", "text": f"LOUD {prose('loud')}"}]
    write_raw(folder, "books/more.jsonl", rows)
    (folder / "bench").mkdir()
    (folder / "bench" / "quiz.jsonl").write_text(json.dumps({"id": "1", "text": item}), encoding="utf-8")
    write_own(folder, "pairs", PAIRS)
    (folder / "remove.txt").write_text("more-5\np8\n", encoding="utf-8")
    exported(
        folder,
        dataset("train", metadata=["page"]),
        dataset("table", files="parquet", metadata=["page"]),
        dataset("validation", input="validation"),
        dataset("labels", rows="kto", **OWN),
        benchmarks=[{"name": "quiz", "location": "bench"}],
        on_contamination="remove_document",
        filter={"exclude": ["$[?(@.id == 'loud')]"], "min_text_length": 20},
        remove={"location": "remove.txt"},
    )
    return folder


def test_what_filter_decontamination_and_takedown_take_out_is_in_no_row(built: Path) -> None:
    found = {row["id"] for name in ("train", "validation", "labels") for row in all_rows(built, name)}
    assert not {"leaked", "loud", "more-5", "p8"} & found
    assert {"more-0", "more-1"} & found
    assert "p7" not in found and "p6" in found


def test_absence_is_proven_of_what_was_taken_down(built: Path) -> None:
    (built / "names.txt").write_text("more-5\n", encoding="utf-8")
    corpus = opened(built)
    drive(corpus)
    assert "0 rows found, 0 places unproven" in run(built, "verify", "--absent", str(built / "names.txt"))


def test_every_row_is_that_of_its_document(built: Path) -> None:
    assert faults(opened(built)) == []


def test_metadata_are_columns_of_text(built: Path) -> None:
    lines, table = all_rows(built, "train"), all_rows(built, "table")
    assert {row["page"] for row in lines if row["id"].startswith("more-")} <= {str(n) for n in range(6)}
    assert all("page" not in row for row in lines if not row["id"].startswith("more-"))
    assert [{key: value for key, value in row.items() if value is not None} for row in table] == lines


@pytest.mark.parametrize(("name", "asset"), [("train", "train_texts"), ("table", "table_texts")])
def test_rows_are_shown(built: Path, name: str, asset: str) -> None:
    (first, *_) = rows_of(built, name).values()
    key = sorted(rows_of(built, name))[0].partition(".")[0]
    assert json.loads(run(built, "show", asset, key, "--rows", "1").splitlines()[-1])["id"] == first[0]["id"]


@pytest.mark.parametrize("name", ["train", "table", "labels"])
def test_a_row_leads_to_its_document_and_back(built: Path, name: str) -> None:
    file, rows = next(iter(rows_of(built, name).items()))
    for number, row in enumerate(rows[:5]):
        found = traced(built, name, file, number, 1)["found"]
        assert [(one["source"], one["id"]) for one in found] == [(row["source"], row["id"])]
        ways = json.loads(run(built, "why", row["id"], "--source", row["source"], "--json"))["ways"]
        steps = [step for way in ways for step in way["steps"] if step["stage"] == f"{name}_texts"]
        assert (number, file) in {(step["row"], (step["file"] or "").rpartition("/")[2]) for step in steps}


def test_a_refused_example_says_why(built: Path) -> None:
    (way,) = json.loads(run(built, "why", "p1", "--source", "labels", "--json"))["ways"]
    (step,) = (step for step in way["steps"] if step["stage"] == "labels_texts")
    assert (step["status"], step["reason"]) == ("dropped", "no_label")
    assert manifest_of(opened(built), "labels")["dropped"] == {"no_label": 3}


def test_what_is_lost_is_found_by_the_check(built: Path, tmp_path: Path) -> None:
    corpus = opened(built)
    (labels,) = (one for one in text_datasets(corpus.settings.values["datasets"]) if one.name == "labels")
    (made,), (read,) = partitions(corpus, "labels_texts"), partitions(corpus, "labels_examples")
    given = {made.key or "": read.record}
    other = TextDataset("labels", {**labels.values, "rows": "prompt_completion"})
    assert "row 0 is not that of labels/p0" in faults_of(made.record, other, corpus.storage, given)[0]
    made.record.counters["totals"]["units"] += 1
    assert "8 rows came in; 6 went out, 3" in faults_of(made.record, labels, corpus.storage, given)[0]


def test_names_that_no_row_has_are_noted(tmp_path: Path) -> None:
    write_own(tmp_path, "pairs", [{**row, "extra": 1} for row in PAIRS])
    corpus = exported(tmp_path, dataset("pairs", rows="prompt_completion", metadata=["nowhere"], **OWN))
    stage = corpus.graph["pairs_texts"]
    made = partitions(corpus, "pairs_texts")
    for one in made:
        object.__setattr__(one, "shard", corpus.planner().shard(one.key))
    notes = list(stage.hooks.notes(made, corpus.settings.values))
    assert any("datasets.pairs.metadata 'nowhere': none of 9 rows" in note for note in notes)
    assert any("keys of its rows that no column holds: 'extra' 9, 'label' 6" in note for note in notes)


def test_too_many_refused_examples_hold_the_manifest_back(tmp_path: Path) -> None:
    write_small(tmp_path, {"datasets": [dataset("labels", rows="kto", **OWN, max_discarded=0.2)]})
    write_own(tmp_path, "pairs", PAIRS)
    corpus = opened(tmp_path)
    done = drive(corpus, corpus.graph.select(["+labels_manifest"]))
    assert "3 of 9 examples give no row (no_label 3), more than max_discarded 0.2 allows" in " ".join(done.waiting)


def test_weights_repeat_documents_of_a_split(tmp_path: Path) -> None:
    tokens = {"books": 6000, "web": 300}
    corpus = exported(tmp_path, dataset("mixed", weights={"tokens": tokens}))
    mixture = partitions(corpus, "mixed_mixture")[0].json("mixture.json")["sources"]
    assert faults(corpus) == []
    rows = all_rows(tmp_path, "mixed")
    assert {row["source"] for row in rows} == {"books", "web"}
    assert len({row["id"] for row in rows}) < len(rows)
    for source, wanted in tokens.items():
        assert abs(mixture[source]["reached"] - wanted) < 200
    found = traced(tmp_path, "mixed", next(iter(rows_of(tmp_path, "mixed"))), 0, 0)["found"]
    assert found[0]["id"] == rows[0]["id"]


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing(tmp_path: Path) -> None:
    found = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        write_own(folder, "pairs", PAIRS)
        files = ("jsonl", "jsonl.gz", "jsonl.zst", "parquet")
        datasets = [dataset(f"t{number}", files=name) for number, name in enumerate(files)]
        corpus = exported(folder, *datasets, dataset("labels", rows="kto", **OWN), **{"engine.workers": workers})
        found.append(contents(corpus))
    assert found[0] == found[1]


def test_a_split_and_a_file_without_a_row_have_no_file(tmp_path: Path) -> None:
    write_own(tmp_path, "pairs", [])
    given = {"input": {**OWN["input"], "may_be_empty": True}}
    corpus = exported(
        tmp_path,
        dataset("validation", input="validation"),
        dataset("pairs", rows="prompt_completion", **given),
        **{"split.holdout": 0.0},
    )
    assert faults(corpus) == []
    for name in ("validation", "pairs"):
        assert manifest_of(corpus, name)["rows_out"] == 0
        assert sorted(path.name for path in folder_of(tmp_path, name).iterdir()) == ["README.md", "manifest.json"]


def test_a_build_says_rows_and_no_tokens_of_texts(tmp_path: Path) -> None:
    write_small(tmp_path, {"datasets": [dataset("held", input="validation")]})
    said = run(tmp_path, "build")
    assert "held: " in said
    assert "tokens in" not in said
    assert json.loads(run(tmp_path, "tokens", "--json"))["datasets"] == []


def test_the_viewer_counts_no_tokens_of_texts(built: Path) -> None:
    pages = TestClient(standing_alone(built / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")
    page = pages.get("/corpus/").text
    datasets = page[page.index("mode or format") :]
    for name in (one.name for one in text_datasets(opened(built).settings.values["datasets"])):
        row = next(row for row in datasets.split("<tr") if f">{name}</a>" in row)
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
        assert f"{name}_texts" in row and "–" in cells[-4]
        assert f">{name}</th>" not in page[: page.index("mode or format")]
