"""`corpus why`: what it takes, what it prints, and what it says to what it cannot find."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.viewer.app import standing_alone
from tests.build.small import drive, opened, raw_rows, write_config, write_raw, write_small

ROWS = raw_rows()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("why"))
    write_raw(folder, "web/twin.jsonl", [{"id": ROWS["books/one.jsonl"][2]["id"], "text": "Other words. " * 20}])
    hdf5 = {"name": "rows", "input": "decontaminated_train", "sequence_length": 64}
    web = {"name": "web", "format": "megatron", "weights": {"shares": {"web": 1}}}
    write_config(folder, {"datasets": [{"name": "meg", "format": "megatron"}, web, hdf5]})
    assert not drive(opened(folder)).failed
    return folder


def asked(folder: Path, *arguments: str | int) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["why", *map(str, arguments), "--config", str(folder / "corpus.yaml")])
    return done.exit_code, done.output + str(done.exception or "")


def ways(folder: Path, *arguments: str | int) -> list[dict[str, Any]]:
    code, printed = asked(folder, *arguments, "--json")
    assert code == 0, printed
    found: list[dict[str, Any]] = json.loads(printed)["ways"]
    return found


def test_a_document_is_asked_for_by_id_row_digest_and_token(folder: Path) -> None:
    row = ROWS["books/three.jsonl"][2]
    (by_id,) = ways(folder, row["id"])
    assert (by_id["origin"]["id"], by_id["origin"]["row"]) == (row["id"], 2)
    normalized = by_id["steps"][1]
    assert normalized["stage"] == "normalized_documents"
    for arguments in (
        ("books--three", 2),
        ("books/three.jsonl", 2),
        (by_id["origin"]["file"], 2),
        (normalized["details"]["sha256"],),
        (f"sha256:{normalized['details']['sha256'].upper()}",),
    ):
        (found,) = ways(folder, *arguments)
        assert found["origin"] == by_id["origin"]
    (in_file,) = [step for step in by_id["steps"] if step["stage"] == "meg_tokens"]
    token = (in_file["file"], in_file["row"], "--dataset", "meg", "--position", 3)
    assert ways(folder, *token)[0]["origin"] == by_id["origin"]
    (in_rows,) = [step for step in by_id["steps"] if step["stage"] == "rows_tokens"]
    assert in_rows["status"] == "here"


def test_a_token_of_a_document_that_is_used_twice_is_of_one_document(folder: Path) -> None:
    corpus = opened(folder)
    for key in corpus.records("decontaminated_train"):
        made = corpus.partition("decontaminated_train", key)
        assert made is not None
        documents = [json.loads(line) for line in made.lines()]
        ids = [document["id"] for document in documents]
        number = next((n for n, one in enumerate(ids) if ids.count(one) == 2), None)
        if number is not None:
            break
    assert number is not None
    (way,) = ways(folder, ids[number])
    (in_rows,) = [step for step in way["steps"] if step["stage"] == "rows_tokens"][:1]
    token = (in_rows["file"], in_rows["row"], "--dataset", "rows", "--position", 30)
    assert ways(folder, *token)[0]["origin"] == way["origin"]


def test_the_words_name_every_stage_and_where_it_ended(folder: Path) -> None:
    code, printed = asked(folder, ROWS["web/deep/a.parquet"][3]["id"])
    assert code == 0
    assert "ended     in duplicates: duplicate" in printed
    assert f"kept: books/{ROWS['books/one.jsonl'][2]['id']}" in printed
    assert f"raw file  {folder}/raw/web/deep/a.parquet, row 3 from 0" in printed


def test_where_one_dataset_leaves_it_out_the_words_name_those_that_have_it(folder: Path) -> None:
    code, printed = asked(folder, ROWS["books/three.jsonl"][2]["id"])
    assert code == 0
    assert printed.splitlines()[-2:] == ["left out  of web_tokens: not_in_mixture", "reached   meg_tokens, rows_tokens"]
    assert "reached" not in asked(folder, ROWS["web/deep/a.parquet"][3]["id"])[1]
    pages = TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")
    page = pages.get("/corpus/why?shard=books--three&number=2").text
    assert "left out</span> of <strong>web_tokens</strong>" in page and "ended</span>" not in page
    assert "reached</span> the files of meg" in page


def test_what_was_not_searched_is_neither_reached_nor_left_out(folder: Path) -> None:
    code, printed = asked(folder, ROWS["books/three.jsonl"][2]["id"], "--seconds", 0)
    assert code == 0
    assert printed.splitlines()[-2:] == ["reached   meg_tokens", "not known rows_tokens"]
    assert "HDF5 does not record whose rows are whose; it was not searched for" in printed


def test_an_id_of_two_sources_needs_the_source(folder: Path) -> None:
    wanted = ROWS["books/one.jsonl"][2]["id"]
    code, printed = asked(folder, wanted)
    assert code != 0
    assert "2 sources have a document" in printed
    assert "--source books or web" in printed
    assert ways(folder, wanted, "--source", "web")[0]["origin"]["shard"] == "web--twin"


def test_what_cannot_be_found_is_said_with_what_is_near(folder: Path) -> None:
    near = ROWS["books/one.jsonl"][5]["id"]
    for arguments, words in (
        ((near[:-1],), "no document has the id"),
        ((near[:-1] + "5x",), f"did you mean '{near}'?"),
        (("0" * 64,), "has the id or the text digest"),
        (("books--onee", 2), "no raw file 'books--onee' (did you mean 'books--one'?)"),
        (("books--one", 99), "row 99: valid in normalized_documents/books--one: 0 to 8"),
        ((near, "--source", "bookz"), "no source named 'bookz' (did you mean 'books'?)"),
        (("x", 0, "--dataset", "megg"), "no dataset named 'megg'"),
    ):
        code, printed = asked(folder, *arguments)
        assert code != 0
        assert words in printed
