"""From a token of a dataset back to its document and raw row, through the command."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.tracing.origins import nth_row
from resources.formats.hdf5.reader import read_hdf5
from tests.build.small import drive, opened, prose, raw_rows, write_config, write_raw, write_small
from tests.export.exported import encoded, exported, partitions, tokenizer_of


def traced(folder: Path, *arguments: str | int) -> dict[str, Any]:
    """What `corpus trace --json` says."""
    given_ = ["trace", *map(str, arguments), "--config", str(folder / "corpus.yaml"), "--json"]
    done = CliRunner().invoke(app, given_, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.output)
    return found


def raw_of(folder: Path, found: dict[str, Any]) -> dict[str, Any]:
    """The raw row that an origin names."""
    path = str(Path(found["file"]).relative_to(folder / "raw"))
    row: dict[str, Any] = raw_rows()[path][found["row"]]
    return row


def test_a_token_leads_to_its_document_and_its_raw_row(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {"name": "meg", "format": "megatron"})
    splits = {split.key: list(split.documents()) for split in partitions(corpus, "decontaminated_train")}
    seen = 0
    for key, documents in encoded(corpus).items():
        for row, ids in list(enumerate(documents))[:4]:
            position = random.Random(row).randrange(len(ids))
            found = traced(tmp_path, "meg", f"{key}_text_document.bin", row, position)
            expected = splits[key][row]
            assert (found["origin"]["source"], found["origin"]["id"]) == (expected.source, expected.id)
            assert (found["position"], found["ids"]) == (position, len(ids))
            assert found["token"] == tokenizer_of(corpus).decode(ids[position : position + 1])
            assert found["before"] + found["token"] + found["after"] in expected.text
            if not found["origin"]["file"].endswith(".txt"):
                assert raw_of(tmp_path, found["origin"])["id"] == expected.id
            seen += 1
    assert seen > 8


def test_the_documents_before_and_after_are_those_of_the_file(tmp_path: Path) -> None:
    """Not those of the token stream, of which weights leave some out."""
    write_small(tmp_path)
    for source in ("books", "web"):
        rows = [{"id": f"new-{source}-{n}", "text": prose(f"{source} {n}", words=60)} for n in range(8)]
        write_raw(tmp_path, f"{source}/new.jsonl", rows)
    weights = {"shares": {"books": 1}}
    exported(tmp_path, {"name": "mix", "format": "megatron", "weights": weights}, **{"mix.chunks": 1})
    found = [traced(tmp_path, "mix", "chunk-0000_text_document.bin", row, 0) for row in range(5)]
    names = [one["origin"]["id"] for one in found]
    assert len(set(names)) == 5
    sides = [[one and one["id"] for one in trace["neighbours"]] for trace in found]
    assert [before for before, _ in sides] == [None, *names[:-1]]
    assert [after for _, after in sides[:-1]] == names[1:]


def test_a_separator_and_a_place_that_is_not_there(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {"name": "meg", "format": "megatron"})
    first = encoded(corpus)["chunk-0000"][0]
    assert traced(tmp_path, "meg", "chunk-0000_text_document.bin", 0, len(first))["position"] is None
    arguments = ["--config", str(tmp_path / "corpus.yaml")]
    for given_, fault in (
        (["meg", "chunk-0000_text_document.bin", "999", "0"], "row 999: valid"),
        (["meg", "nothing.bin", "0", "0"], "meg has no file 'nothing.bin' with rows"),
        (["megg", "x", "0", "0"], "no dataset named 'megg'"),
    ):
        done = CliRunner().invoke(app, ["trace", *given_, *arguments])
        assert fault in str(done.exception) + done.output


def test_rows_that_were_left_out_count_in_the_raw_row(tmp_path: Path) -> None:
    rows = [{"id": f"d{n}", "text": prose(f"gap {n}")} for n in range(6)]
    write_raw(tmp_path, "own/a.jsonl", rows)
    file = tmp_path / "raw" / "own" / "a.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(["not JSON\n", *lines[:3], '{"id": "no text"}\n', *lines[3:]]))
    exported(tmp_path, {"name": "meg", "format": "megatron", "input": {"location": "raw/own"}})
    for row, expected in enumerate((1, 2, 3, 5, 6, 7)):
        (name,) = (path.name for path in (tmp_path / "corpus/exports/meg").glob("*.bin"))
        found = traced(tmp_path, "meg", name, row, 0)["origin"]
        assert (found["id"], found["row"]) == (f"d{row}", expected)


@given(st.lists(st.integers(0, 30), unique=True).map(sorted), st.integers(0, 30))
def test_the_nth_row_is_the_nth_that_is_no_gap(gaps: list[int], number: int) -> None:
    left = [row for row in range(100) if row not in gaps]
    assert nth_row(number, np.array(gaps, np.uint64)) == left[number]


def hdf5_rows(corpus: Corpus, dataset: str) -> list[tuple[str, int]]:
    """Every file of token rows, and how many rows it has."""
    return [
        (file.path, file.rows or 0)
        for partition in partitions(corpus, f"{dataset}_tokens")
        for file in partition.record.files
        if file.path.endswith(".h5")
    ]


@pytest.mark.parametrize("options", [{}, {"mode": "lm_vsl"}, {"shuffle": True}, {"mode": "fim"}], ids=str)
def test_a_row_of_hdf5_is_found_by_its_text(tmp_path: Path, options: dict[str, Any]) -> None:
    write_small(tmp_path)
    tokens = ["<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"]
    datasets = [{"name": "train", "sequence_length": 64, **options}]
    write_config(tmp_path, {"datasets": datasets, "tokenizer.special_tokens": tokens})
    corpus = opened(tmp_path)
    done = drive(corpus, corpus.graph.select(["+train_token_params"]))
    assert done.failed == []
    texts = {
        document.id: document.text for one in partitions(corpus, "normalized_documents") for document in one.documents()
    }
    path, rows = hdf5_rows(corpus, "train")[0]
    for row in (0, rows - 1):
        found = traced(tmp_path, "train", path, row, 20)
        held = [texts[one["id"]] for one in found["found"]]
        assert held
        token = "" if found["token"].startswith("<|") else found["token"].strip()
        assert all(token in text for text in held)


def test_counts_of_tokens_are_those_of_the_files(tmp_path: Path) -> None:
    small = {"name": "rows", "input": "decontaminated_train", "sequence_length": 64}
    corpus = exported(tmp_path, {"name": "meg", "format": "megatron"})
    write_config(tmp_path, {"datasets": [{"name": "meg", "format": "megatron"}, small]})
    drive(opened(tmp_path))
    done = CliRunner().invoke(app, ["tokens", "--config", str(tmp_path / "corpus.yaml"), "--json"])
    found = json.loads(done.output)
    documents = [ids for ids_of in encoded(corpus).values() for ids in ids_of]
    assert sum(one["tokens"] for one in found["streams"]) == sum(map(len, documents))
    assert {one["source"] for one in found["streams"]} == {"books", "web", "notes"}
    meg, rows = found["datasets"]
    assert (meg["rows"], meg["tokens"]) == (len(documents), sum(map(len, documents)) + len(documents))
    labels = 0
    for path, _ in hdf5_rows(opened(tmp_path), "rows"):
        with (tmp_path / "corpus" / path).open("rb") as raw, read_hdf5(raw, path) as file:
            labels += sum(int(block[:, 1].sum()) for block in file.blocks())
    assert rows["loss_tokens"] == labels > 0


def test_a_name_that_several_files_have_is_refused(tmp_path: Path) -> None:
    exported(tmp_path, {"name": "mds", "format": "mds", "sequence_length": 16})
    arguments = ["trace", "mds", "shard.00000.mds", "0", "--config", str(tmp_path / "corpus.yaml")]
    done = CliRunner().invoke(app, arguments)
    assert (
        "files 'shard.00000.mds', such as exports/mds/chunk-0000/shard.00000.mds" in str(done.exception) + done.output
    )
    arguments = ["trace", "mds", "chunk-0000/shard.00000.mds", "0", "16", "--config", str(tmp_path / "corpus.yaml")]
    done = CliRunner().invoke(app, arguments)
    assert "position 16: valid in row 0" in str(done.exception) + done.output
