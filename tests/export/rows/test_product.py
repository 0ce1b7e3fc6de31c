"""Rows of several documents through the product: figures, checks, tracing, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from corpus_assets.cli.questions.packing import Asked, compared
from corpus_assets.export.format import places_of
from corpus_assets.orchestration.building.notes import build_notes
from corpus_assets.orchestration.shown.figures import figures as figures_of
from corpus_assets.report.model import decode
from corpus_assets.report.report import MODEL, PAGE
from corpus_assets.tracing.from_tokens.units import unit_of
from resources.errors import ConfigError
from tests.build.small import contents, drive, opened, write_config, write_small
from tests.export.exported import encoded, exported, manifest_of, partitions, tokenizer_of
from tests.export.masked import rules
from tests.export.masked.product import exported_rows
from tests.export.masked.test_product import asked, faults

LENGTH = 48
ROWS: dict[str, Any] = {"format": "parquet", "unit": "row", "sequence_length": LENGTH}
DATASETS: list[dict[str, Any]] = [
    {"name": "folded", **ROWS},
    {"name": "cut", **ROWS, "long_documents": "cut", "packing": "lpfhp"},
    {"name": "left_out", **ROWS, "sequence_length": 221, "long_documents": "drop", "separator": "before"},
    {"name": "bare", **ROWS, "columns": ["input_ids", "position_ids"], "separator": "none"},
    {"name": "trl", **ROWS, "reader": "trl", "packing": "first_fit_8", "packing_depth": 2},
    {"name": "folder", **ROWS, "format": "arrow", "reader": "llama_factory"},
    {"name": "windows", "format": "arrow", "sequence_length": LENGTH, "columns": ["position_ids"]},
    {"name": "documents", "format": "arrow", "unit": "document", "columns": ["source"]},
    {"name": "same_windows", "format": "parquet", "sequence_length": LENGTH, "columns": ["position_ids"]},
    {"name": "same_documents", "format": "parquet", "unit": "document", "columns": ["source"]},
    {"name": "repeated", **ROWS, "weights": {"shares": {"books": 1, "web": 1}, "total": 20_000, "max_epochs": 30}},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("rows")
    write_small(made, {"datasets": DATASETS, "mix.chunks": 1})
    corpus = opened(made)
    done = drive(corpus, list(corpus.graph))
    assert (done.failed, done.waiting) == ([], [])
    return made


def arrow_rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of all Arrow files of a dataset."""
    paths = sorted((folder / f"corpus/exports/{name}").glob("data-*.arrow"))
    return [row for path in paths for row in pa.ipc.open_stream(path.read_bytes()).read_all().to_pylist()]


def test_rows_hold_all_ids_of_all_documents(folder: Path) -> None:
    corpus = opened(folder)
    eos, rows = tokenizer_of(corpus).eos_id, exported_rows(folder, "folded")
    (documents,) = encoded(corpus).values()
    assert eos is not None
    expected = sorted(id_ for ids in documents if ids for id_ in [*ids, eos])
    assert sorted(id_ for row in rows for id_ in row["input_ids"]) == expected
    assert rules.trl(rows) == rules.transformers(rows)
    assert rules.llama_factory(arrow_rows(folder, "folder")) == rules.trl(rows)
    assert [row.keys() for row in exported_rows(folder, "bare")[:1]] == [{"input_ids", "position_ids"}]


def test_arrow_holds_what_parquet_holds(folder: Path) -> None:
    for name in ("windows", "documents"):
        assert arrow_rows(folder, name) == exported_rows(folder, f"same_{name}")
    info = json.loads((folder / "corpus/exports/documents/dataset_info.json").read_text())
    assert info["features"]["source"] == {"dtype": "string", "_type": "Value"}


@pytest.mark.parametrize(("name", "method"), [("folded", "best_fit"), ("cut", "lpfhp"), ("left_out", "best_fit")])
def test_the_figures_are_those_of_the_forecast(folder: Path, name: str, method: str) -> None:
    corpus = opened(folder)
    forecast = compared(corpus, Asked(name), [method])
    (row,), found = forecast.methods, manifest_of(corpus, name)["packing"]
    assert forecast.long > 0
    assert found["method"] == method
    assert found["sequences"] == forecast.sequences
    for key in ("rows", "fill", "sequences_per_row", "truncated_tokens", "padded_tokens"):
        assert found[key] == row[key], key
    assert bool(found["truncated_tokens"]) == (name != "folded")


def test_figures_stand_in_metadata_and_in_the_report(folder: Path) -> None:
    corpus, figures = opened(folder), manifest_of(opened(folder), "left_out")["packing"]
    for asset in ("left_out_tokens", "left_out_manifest"):
        (made,) = partitions(corpus, asset)
        shown = figures_of(corpus.graph[asset], made.record.numbers, [])
        assert shown["full (%)"] == round(100 * figures["fill"], 4)
        assert shown["sequences per row"] == figures["sequences_per_row"]
        assert shown["padding (tokens)"] == figures["padded_tokens"]
        assert shown["tokens in no row"] == figures["truncated_tokens"]
    said = {one.name: one for one in decode((folder / "corpus" / MODEL).read_bytes()).datasets}
    one = said["left_out"]
    assert one.slots is not None
    assert one.non_pad_tokens is not None
    assert one.slots - one.non_pad_tokens == figures["padded_tokens"]
    assert one.sequences_per_row == figures["sequences_per_row"]
    assert one.dropped_tokens == {"long_document": figures["truncated_tokens"]}
    assert one.discarded["long_document"] > 0
    assert said["windows"].slots is None
    page = (folder / "corpus" / PAGE).read_text(encoding="utf-8")
    assert "sequences per row" in page.partition('id="packing"')[2]


def test_checks_find_nothing(folder: Path) -> None:
    assert faults(opened(folder)) == []


@pytest.mark.parametrize("name", ["folded", "left_out", "folder", "repeated", "bare"])
def test_a_token_leads_to_its_document_and_back(folder: Path, name: str) -> None:
    corpus = opened(folder)
    (made,) = partitions(corpus, f"{name}_tokens")
    path = places_of(made)[0].path
    rows = arrow_rows(folder, name) if name == "folder" else exported_rows(folder, name)
    for row in (0, len(rows) // 2, len(rows) - 1):
        last = len(rows[row]["input_ids"]) - 1
        for position in (0, last // 2, last):
            found = asked(folder, "trace", name, path, row, position)
            why = asked(folder, "why", found["origin"]["id"], "--source", found["origin"]["source"])
            steps = [step for way in why["ways"] for step in way["steps"] if step["stage"] == f"{name}_tokens"]
            runs = [run for step in steps for run in step["details"]["rows"]]
            assert any(run["first"] <= row <= run["last"] for run in runs)


@pytest.mark.parametrize("name", ["folded", "left_out"])
def test_a_row_is_shown_by_document_with_what_is_learned(folder: Path, name: str) -> None:
    corpus = opened(folder)
    (made,) = partitions(corpus, f"{name}_tokens")
    for number, row in enumerate(exported_rows(folder, name)):
        unit = unit_of(corpus, name, (made, places_of(made)[0].path, number), 0, 1000)
        assert np.concatenate([piece.ids for piece in unit.pieces]).tolist() == row["input_ids"]
        assert [len(piece.ids) for piece in unit.pieces] == row["seq_lengths"]
        learned = [bool(one) for piece in unit.pieces if piece.learned is not None for one in piece.learned]
        assert learned == [label != -100 for label in row["labels"]]


def test_a_document_that_is_left_out_is_told_why(folder: Path) -> None:
    corpus = opened(folder)
    (split,) = partitions(corpus, "decontaminated_train")
    (lengths,) = encoded(corpus).values()
    documents = [*split.documents()]
    (number, *_) = [n for n, ids in enumerate(lengths) if len(ids) + 1 > 221]
    why = asked(folder, "why", documents[number].id, "--source", documents[number].source)
    (step, *_) = [step for way in why["ways"] for step in way["steps"] if step["stage"] == "left_out_tokens"]
    assert (step["status"], step["reason"]) == ("dropped", "long_document")
    assert step["words"] == "it has more ids than a row"


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing(tmp_path: Path) -> None:
    found = []
    for workers in (1, 3):
        (tmp_path / str(workers)).mkdir()
        changes = {"datasets": DATASETS, "engine.workers": workers}
        write_small(tmp_path / str(workers), changes)
        corpus = opened(tmp_path / str(workers))
        assert drive(corpus).failed == []
        found.append(contents(corpus))
    assert found[0] == found[1]


def test_another_column_tokenizes_nothing_again(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {"name": "hf", **ROWS})
    streams = [one.record.digest for one in partitions(corpus, "decontaminated_train_token_stream")]
    again = exported(tmp_path, {"name": "hf", **ROWS, "columns": ["input_ids", "seq_lengths"]})
    assert streams == [one.record.digest for one in partitions(again, "decontaminated_train_token_stream")]
    assert exported_rows(tmp_path, "hf")[0].keys() == {"input_ids", "seq_lengths"}
    assert "convention" not in manifest_of(again, "hf")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "mds"}, "valid with `format: mds`: window, document: llm-foundry finds documents by end-of-text"),
        ({"reader": "axolotl"}, "sample_packing overwrites position_ids, so a packed row becomes one document"),
        ({"reader": "trl", "columns": ["input_ids", "seq_lengths"]}, "`reader: trl` needs labels too"),
        ({"columns": ["input_ids", "labels"]}, "one of seq_lengths, position_ids, attention_mask, or documents are"),
        ({"columns": ["input_ids", "seq_lengths", "source"]}, "without source, of which a row has several"),
        ({"unit": "window", "packing": "lpfhp"}, "packing is 'lpfhp'; valid with `unit: window`: none, or `unit: row`"),
        ({"unit": "document", "reader": "trl"}, "reader is 'trl'; valid with `unit: document`: none, or `unit: row`"),
        ({"keep_tail": True}, "keep_tail goes with `unit: window`: rows have no tail"),
        ({"packing": "nearest_previous", "packing_depth": 2}, "packing_depth is 2; valid with `unit: row`, and not"),
        ({"reader": "llama_factory"}, "loads folders of `datasets`; valid: `format: arrow`"),
    ],
)
def test_what_a_reader_would_misread_is_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        write_config(tmp_path, {"datasets": [{"name": "hf", **ROWS, **options}]})
    assert message in str(refused.value)


def test_a_note_says_how_much_is_in_no_row(folder: Path) -> None:
    corpus = opened(folder)
    said = [note for note in build_notes(corpus.planner()) if "ids are in no row" in note]
    assert [note.split(":")[0] for note in said] == ["dataset cut", "dataset left_out"]
    for name, note in zip(("cut", "left_out"), said, strict=True):
        lost = manifest_of(corpus, name)["packing"]["truncated_tokens"]
        assert lost
        assert f" {lost:,} of " in note
