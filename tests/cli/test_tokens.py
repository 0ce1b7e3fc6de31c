"""`corpus tokens`: numbers by source are those of the documents themselves, and add up to those of the files."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from corpus_assets.cli.questions import tokens
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.diff.recorded import numbers_of
from corpus_assets.report.datasets import datasets as report_of
from resources.ledger.ledger import Record
from resources.stage.partition import Partition
from tests.build.small import drive, live_records, opened, prose, statuses, write_config

COUNTED = [
    {"name": "rows", "input": "train", "sequence_length": 32, "shuffle": True},
    {"name": "packed", "mode": "lm_vsl", "input": "train", "sequence_length": 32},
    {"name": "stream", "format": "megatron", "input": "train"},
    {"name": "windows", "format": "mds", "input": "train", "sequence_length": 64},
    {"name": "pairs", "mode": "summarization", "input": {"location": "raw/pairs"}, "sequence_length": 32},
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("counted")
    texts = {source: [prose(f"{source} {n}", 20) for n in range(size)] for source, size in (("books", 9), ("web", 4))}
    rows: dict[str, list[dict[str, Any]]] = {
        **{source: [{"id": str(n), "text": text} for n, text in enumerate(found)] for source, found in texts.items()},
        "notes": [{"id": "0", "body": prose("a note", 20)}],
        "pairs": [{"prompt": "How?", "completion": prose(n, 4)} for n in range(3)],
    }
    for name, found in rows.items():
        (folder / "raw" / name).mkdir(parents=True)
        (folder / "raw" / name / "a.jsonl").write_text("\n".join(map(json.dumps, found)))
    write_config(folder, {"datasets": COUNTED, "split.holdout": 0.0, "sources.2.may_be_empty": True})
    assert not drive(opened(folder)).failed
    return opened(folder)


def shown(corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    tokens.run(corpus.folder / "corpus.yaml", as_json=True)
    found = json.loads(capsys.readouterr().out)
    return {dataset["name"]: dataset for dataset in found["datasets"]}


def test_sources_add_up(corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    datasets = shown(corpus, capsys)
    train = [record for (asset, _), record in live_records(corpus).items() if asset == "train"]
    documents = [document for record in train for document in Partition(corpus.storage, record).documents()]
    for name in ("rows", "packed"):
        found = datasets[name]["by_source"]
        assert {source: numbers["documents"] for source, numbers in found.items()} == {
            source: sum(document.source == source for document in documents) for source in ("books", "notes", "web")
        }
        assert {source: numbers["text_bytes"] for source, numbers in found.items()} == {
            source: sum(len(document.text.encode()) for document in documents if document.source == source)
            for source in found
        }
        assert sum(numbers["loss_tokens"] for numbers in found.values()) == datasets[name]["loss_tokens"]
    assert datasets["stream"]["by_source"] is None
    (pairs,) = datasets["pairs"]["by_source"].items()
    assert (pairs[0], pairs[1]["documents"]) == ("pairs", 3)
    assert pairs[1]["loss_tokens"] == datasets["pairs"]["loss_tokens"]


def test_padding_is_no_token(corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    datasets = shown(corpus, capsys)
    for name in ("rows", "packed", "pairs"):
        params = json.loads((corpus.folder / "corpus" / "tokens" / name / "data_params.json").read_text())
        assert datasets[name]["tokens"] == params["post-process"]["non_pad_tokens"] < 32 * datasets[name]["rows"]


def test_what_is_in_no_window_is_no_token_of_the_dataset(corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(corpus, capsys)["windows"]
    manifest = json.loads((corpus.folder / "corpus" / "exports" / "windows" / "manifest.json").read_text())
    assert manifest["dropped"]["tail"]["ids"] > 0
    assert found["tokens"] == 64 * found["rows"] == sum(file.get("ids", 0) for file in manifest["files"])
    for asset in ("windows_tokens", "windows_manifest"):
        records = corpus.ledger.records(asset).values()
        assert sum(record.statistics["tokens"] for record in records) == found["tokens"]
    counted = numbers_of(corpus.planner()).datasets["windows"]
    assert counted["tokens"] == found["tokens"]
    made = [Partition(corpus.storage, record) for record in corpus.ledger.records("windows_tokens").values()]
    (drawn,) = report_of({"windows_tokens": made}, {"datasets": [COUNTED[3]]})
    assert drawn.tokens == found["tokens"]


def test_lengths_of_documents_are_counted(corpus: Corpus) -> None:
    records = {asset: record for (asset, _), record in live_records(corpus).items()}
    for asset in ("rows_sequences", "packed_tokens", "pairs_tokens", "train_token_stream"):
        numbers = records[asset].statistics
        assert sum(numbers["token_lengths"]) == numbers["rows_in"]


def test_records_without_the_numbers_are_read(
    corpus: Corpus, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No number is content: partitions without one stay fresh, and their sources are not known."""

    def older(record: Record) -> Record:
        return msgspec.structs.replace(record, statistics={"rows_out": record.statistics.get("rows_out", 0)})

    for record in live_records(corpus).values():
        corpus.ledger.write(older(record))
    again = opened(Path(corpus.folder))
    assert statuses(again.planner().plan()) == {}
    found = shown(again, capsys)
    assert all(dataset["by_source"] is None for dataset in found.values())
    assert found["rows"]["loss_tokens"]
