"""Masked datasets through the product: the same is learned as of HDF5; checks, tracing and counts know them."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.document_lengths import lengths_of, measured
from corpus_assets.export.checks import upstream_of
from corpus_assets.export.datasets import exported_datasets
from corpus_assets.export.file_faults import faults_of, manifest_faults
from corpus_assets.export.format import places_of
from corpus_assets.orchestration.building.notes import build_notes
from corpus_assets.reading.errors import ReadingError
from corpus_assets.reading.of_corpus import find_stream
from corpus_assets.tracing.from_tokens.units import unit_of
from resources.errors import ConfigError
from tests.build.small import contents, opened
from tests.export.exported import manifest_of, partitions
from tests.export.masked import rules
from tests.export.masked.product import CHAT, FIM, LENGTH, MODES, built, dataset, exported_rows, of_hdf5

DATASETS = [
    *(dataset(f"{name}_hdf5", mode) for name, mode in MODES.items()),
    *(dataset(f"{name}_rows", mode, format="parquet") for name, mode in MODES.items()),
    *(dataset(f"{name}_documents", mode, format="parquet", unit="document") for name, mode in MODES.items()),
    dataset("fim", FIM, format="parquet"),
    *(dataset(f"chat_{name}", CHAT, format=name) for name in ("arrow", "megatron_bridge", "mds", "olmo")),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("masked")
    built(made, *DATASETS)
    return made


def asked(folder: Path, *arguments: str | int) -> Any:
    """What a command says with `--json`."""
    words = [*map(str, arguments), "--config", str(folder / "corpus.yaml"), "--json"]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


@pytest.mark.parametrize("mode", MODES)
def test_the_same_is_learned_as_of_hdf5(folder: Path, mode: str) -> None:
    expected = of_hdf5(folder, f"{mode}_hdf5")
    assert expected
    assert rules.trl(exported_rows(folder, f"{mode}_rows")) == expected
    assert rules.flattening(exported_rows(folder, f"{mode}_documents")) == expected
    assert manifest_of(opened(folder), f"{mode}_rows")["learned"] == expected.total()


def test_all_of_a_rearranged_document_is_learned(folder: Path) -> None:
    rows = exported_rows(folder, "fim")
    corpus = opened(folder)
    assert rows
    for row in rows:
        starts = [sum(row["seq_lengths"][:n]) for n in range(len(row["seq_lengths"]))]
        firsts = {*starts}
        assert [label == id_ for label, id_ in zip(row["labels"], row["input_ids"], strict=True)] == [
            place not in firsts for place in range(len(row["labels"]))
        ]
        assert len(row["input_ids"]) <= LENGTH
    totals = manifest_of(corpus, "fim")
    assert totals["learned"] == totals["ids"] - totals["documents"]


def faults(corpus: Corpus) -> list[str]:
    """What the checks of all datasets find."""
    found: list[str] = []
    for one in exported_datasets(corpus.settings.values["datasets"]):
        given = upstream_of(corpus, one)
        assert given is not None
        made, (manifest,) = partitions(corpus, f"{one.name}_tokens"), partitions(corpus, f"{one.name}_manifest")
        found += [fault for partition in made for fault in partial(faults_of, given=given)(partition.record)]
        found += manifest_faults(made, manifest)
    return found


def test_checks_find_nothing(folder: Path) -> None:
    assert faults(opened(folder)) == []


def test_what_is_too_long_is_counted(folder: Path) -> None:
    dropped = [
        stream.record.statistics["dropped"] for stream in partitions(opened(folder), "chat_rows_masked_token_stream")
    ]
    assert dropped == [{"too_long": 1}, {"too_long": 1}]
    assert manifest_of(opened(folder), "chat_rows")["convention"].startswith("U: ")


@pytest.mark.parametrize("name", ["rows", "documents", "arrow", "megatron_bridge", "mds", "olmo"])
def test_a_token_leads_to_its_document_and_back(folder: Path, name: str) -> None:
    name = f"chat_{name}"
    (made, _) = partitions(opened(folder), f"{name}_tokens")
    path = places_of(made)[0].path.partition(f"{name}/")[2]
    for row, position in ((0, 0), (1, 17), (2, 5)):
        found = asked(folder, "trace", name, path, row, position)
        why = asked(folder, "why", found["origin"]["id"], "--source", found["origin"]["source"])
        (step,) = [step for way in why["ways"] for step in way["steps"] if step["stage"] == f"{name}_tokens"]
        runs = step["details"]["rows"]
        assert any(run["first"] <= row <= run["last"] for run in runs if run["file"].endswith(path))


@pytest.mark.parametrize("name", ["chat_rows", "chat_arrow"])
def test_a_row_is_shown_with_what_is_learned(folder: Path, name: str) -> None:
    corpus = opened(folder)
    (made, _) = partitions(corpus, f"{name}_tokens")
    for number, row in enumerate(exported_rows(folder, "chat_rows")[: places_of(made)[0].units]):
        unit = unit_of(corpus, name, (made, places_of(made)[0].path, number), 0, 1000)
        assert [piece.first for piece in unit.pieces] == [
            place for place, at in enumerate(row["position_ids"]) if not at
        ]
        assert np.concatenate([piece.ids for piece in unit.pieces]).tolist() == row["input_ids"]
        learned = [bool(one) for piece in unit.pieces if piece.learned is not None for one in piece.learned]
        assert learned == [label != -100 for label in row["labels"]]


def test_a_loop_that_knows_no_mask_does_not_get_the_stream(folder: Path) -> None:
    with pytest.raises(ReadingError, match="no token stream 'chat_rows_masked'"):
        find_stream(folder / "corpus.yaml", "chat_rows_masked")


def test_the_lengths_of_documents_are_those_of_the_stream(folder: Path) -> None:
    corpus = opened(folder)
    found = lengths_of(corpus, measured(corpus, "chat_rows"), pytest.fail)
    assert found.lengths.total() == manifest_of(corpus, "chat_rows")["documents"]
    assert measured(corpus, "chat_rows").length == LENGTH


def test_commands_count_what_is_learned(folder: Path) -> None:
    found = {one["name"]: one for one in asked(folder, "tokens")["datasets"]}
    assert found["chat_rows"]["loss_tokens"] == found["chat_hdf5"]["loss_tokens"] > 0


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing(tmp_path: Path) -> None:
    chosen = [entry for entry in DATASETS if "format" in entry]
    found = []
    for workers in (1, 3):
        folder = tmp_path / str(workers)
        folder.mkdir()
        found.append(contents(built(folder, *chosen, **{"engine.workers": workers})))
    assert found[0] == found[1]


def test_another_column_tokenizes_nothing_again(tmp_path: Path) -> None:
    corpus = built(tmp_path, dataset("sft", CHAT, format="parquet"))
    digests = [stream.record.digest for stream in partitions(corpus, "sft_masked_token_stream")]
    changed = built(tmp_path, dataset("sft", CHAT, format="parquet", reader="trl"))
    created = [stream.record.digest for stream in partitions(changed, "sft_masked_token_stream")]
    assert created == digests
    assert exported_rows(tmp_path, "sft")[0].keys() == {"input_ids", "labels", "seq_lengths"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shuffle": True}, "shuffle is not valid with `format: parquet`: trainers shuffle rows"),
        ({"columns": ["input_ids", "seq_lengths"]}, "valid: labels among them, else trainers learn every id"),
        (
            {"columns": ["input_ids", "labels"]},
            "one of seq_lengths, position_ids, attention_mask, or documents are one",
        ),
        ({"reader": "trl", "columns": ["input_ids", "labels", "position_ids"]}, "`reader: trl` needs seq_lengths too"),
        ({"reader": "axolotl", "unit": "row"}, "sample_packing overwrites position_ids"),
        (
            {"reader": "transformers", "columns": ["input_ids", "labels", "position_ids", "attention_mask"]},
            "without attention_mask: with one, models do not look for documents in position_ids",
        ),
        ({"unit": "document", "columns": ["input_ids", "labels", "position_ids"]}, "without position_ids, which say"),
        (
            {
                "format": "arrow",
                "reader": "llama_factory",
                "columns": ["input_ids", "attention_mask", "labels", "position_ids"],
            },
            "without position_ids: it pads rows to a multiple of 8 ids, and not these",
        ),
        ({"mode": "dpo"}, "mode is 'dpo'; valid with `format: parquet`: none, chat, fim, summarization"),
        ({"unit": "document", "packing_depth": 2}, "packing_depth is 2; valid with `unit: row`"),
    ],
)
def test_what_a_reader_would_misread_is_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        built(tmp_path, dataset("sft", CHAT, format="parquet") | options)
    assert message in str(refused.value)


def test_notes_name_what_a_template_leaves_out_and_answers_that_it_changes(tmp_path: Path) -> None:
    said = ("user", "assistant", "user", "assistant")
    messages = [{"role": role, "content": f"said {n}", "mood": "good"} for n, role in enumerate(said)]
    for silent in ("<think></think>", ""):
        messages[2:2] = [{"role": "user", "content": "more"}, {"role": "assistant", "content": silent}]
    (tmp_path / "own/more").mkdir(parents=True)
    (tmp_path / "own/more/a.jsonl").write_text(json.dumps({"messages": messages, "topic": "t"}) + "\n")
    template = "{% for m in messages %}<|{{ m.role }}|>{{ 'last: ' if loop.last and m.role == 'assistant' }}"
    template += "{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    own = {"input": {"location": "own/more", "messages_key": "messages"}, "chat_template": template}
    corpus = built(tmp_path, dataset("more", CHAT | own, format="parquet", unit="document"))
    assert manifest_of(corpus, "more")["documents"] == 2
    notes = [note for note in build_notes(corpus.planner()) if note.startswith("dataset more")]
    assert notes == [
        "dataset more: answers that the template writes otherwise once later turns follow: 1; each is learned in a "
        "separate copy of its conversation",
        "dataset more: nothing is learned of 2 answers that have no text (empty, tags of reasoning alone, or left out "
        "by the template)",
        "dataset more: nothing reads these keys of its rows (number of rows): messages.mood (1), topic (1)",
    ]
    arguments = ["show", "more_tokens", "more--a", "--config", str(tmp_path / "corpus.yaml")]
    shown = CliRunner().invoke(app, arguments, catch_exceptions=False).output
    assert "more--a-00000.parquet (" in shown and "0 rows" not in shown
