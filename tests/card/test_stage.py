"""The asset `data_card`, through corpora that are really built."""

import json
import re
from pathlib import Path
from typing import Any

from corpus_assets.card.steps import steps
from corpus_assets.corpus.corpus import Corpus
from resources.stage.partition import Partition
from tests.build.small import drive, opened, write_config, write_small


def papers(folder: Path, card: dict[str, Any] | None, **changes: Any) -> Corpus:
    if not (folder / "raw").exists():
        write_small(folder)
    write_config(folder, {**({} if card is None else {"card": card}), **changes})
    return opened(folder)


def built(corpus: Corpus) -> Partition:
    done = drive(corpus, list(corpus.graph))
    assert (done.failed, done.waiting) == ([], [])
    record = corpus.ledger.read("data_card", None)
    assert record is not None
    return Partition(corpus.storage, record)


def text(made: Partition, name: str) -> str:
    with made.open(name) as file:
        return file.read().decode()


def test_without_a_card_there_are_no_papers(tmp_path: Path) -> None:
    assert "data_card" not in papers(tmp_path, None).graph.stages


def test_numbers_are_those_of_the_splits_and_of_the_dataset(tmp_path: Path) -> None:
    corpus = papers(tmp_path, {})
    made = built(corpus)
    splits = [
        record
        for name in ("decontaminated_train", "validation", "test")
        for record in corpus.ledger.records(name).values()
    ]
    documents = sum(record.statistics["rows_out"] for record in splits)
    assert documents > 0
    assert f"\n{documents:,} documents, " in text(made, "README.md")
    croissant = json.loads(text(made, "croissant.json"))
    train = next(one for one in croissant["recordSet"] if one["@id"] == "train_documents")
    assert {field["name"] for field in train["field"]} == {"id", "text", "source"}
    graph = json.loads(text(made, "spdx.json"))["@graph"]
    (corpus_size,) = (one["dataset_datasetSize"] for one in graph if one.get("spdxId", "").endswith("#corpus"))
    assert corpus_size == sum(record.statistics["text_bytes"] for record in splits)
    assert len(json.loads(text(made, "to-be-written.json"))) == made.record.statistics["to_be_written"] > 0


def test_patterns_of_files_match_as_many_as_are_said_and_tokens_are_those_in_them(tmp_path: Path) -> None:
    of_windows = {"mds": {"sequence_length": 64}, "amber": {"window": 65, "chunks": 4, "validation": 1}}
    formats = ("megatron", "ragged", "olmo", "llmc", "torchtitan", "datatrove", "parquet", *of_windows)
    written = [{"name": one, "format": one, "input": "train", **of_windows.get(one, {})} for one in formats]
    made = built(papers(tmp_path, {}, datasets=[{"name": "rows", "input": "train", "sequence_length": 64}, *written]))
    table = re.findall(r"\| `(.+)` \| (\S+) \| \S+ \| ([\d,]+) \| [\d,]+ \| ([\d,]+|–) \|", text(made, "README.md"))
    assert {format_ for _, format_, _, _ in table} == {"documents", "hdf5", *formats}
    for pattern, format_, files, tokens in table:
        assert len(list((tmp_path / "corpus").glob(pattern))) == int(files.replace(",", "")), (pattern, files)
        if format_ in formats:
            manifest = json.loads((tmp_path / "corpus" / "exports" / format_ / "manifest.json").read_text())
            assert int(tokens.replace(",", "")) == sum(one.get("ids", 0) for one in manifest["files"]), format_
    params = json.loads((tmp_path / "corpus" / "tokens" / "rows" / "data_params.json").read_text())
    (of_rows,) = (tokens for _, format_, _, tokens in table if format_ == "hdf5")
    assert int(of_rows.replace(",", "")) == params["post-process"]["non_pad_tokens"]


def test_the_steps_name_expressions_and_the_rules_by_which_a_copy_stays(tmp_path: Path) -> None:
    changes = {
        "filter": {"include": ["$.text"], "exclude": ["$.metadata.bad"], "min_text_length": 5},
        "dedup.keep": ["source", "newest", "longest"],
        "dedup.priority": ["web"],
    }
    said = steps(papers(tmp_path, {}, **changes).settings.values)
    assert "Documents stayed only if one of these expressions matches them: $.text." in said
    assert "Documents were removed if one of these expressions matches them: $.metadata.bad." in said
    assert "Documents with texts of fewer than 5 characters were removed." in said
    (kept,) = (one for one in said if "near-duplicates" in one)
    assert kept.endswith(
        "one was kept: that of the earliest source (web first), of several the newest, of several the longest."
    )
    (kept,) = (one for one in steps(papers(tmp_path, {}).settings.values) if "near-duplicates" in one)
    assert kept.endswith("one was kept: that of the earliest source.")


def test_a_change_of_the_card_remakes_the_papers_and_the_report_alone(tmp_path: Path) -> None:
    corpus = papers(tmp_path, {})
    before = built(corpus).record
    again = papers(tmp_path, {"uses": "Reading aloud."})
    stale = [decision.name for decision in again.planner().plan().decisions if decision.status != "fresh"]
    assert set(stale) == {"data_card", "report"}
    after = built(again)
    assert after.record.digest != before.digest
    assert "Reading aloud." in text(after, "README.md")
    assert after.record.statistics["to_be_written"] == before.statistics["to_be_written"] - 1


def test_equal_words_and_content_give_equal_papers(tmp_path: Path) -> None:
    one, other = (built(papers(tmp_path / name, {"title": "A"})).record for name in ("one", "other"))
    assert one.digest == other.digest
