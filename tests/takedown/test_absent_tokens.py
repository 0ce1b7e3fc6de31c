"""Documents that lists name are looked for in the rows of token files, whatever the ledger says of them."""

import json
import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.corpus.corpus import Corpus
from resources.ledger.ledger import Record
from tests.build.small import Rows, Work, drive, opened, prose, raw_rows, write_raw, write_small

REMOVE = {"remove": {"location": "lists/*.txt"}}
SHARED = prose("licence", 30)
"""A passage of a document that is removed and of one that is kept."""
SHORT = "short"


def rows_with_a_shared_passage() -> Rows:
    rows = raw_rows()["books/one.jsonl"]
    for number in (5, 6):
        rows[number]["text"] += f" {SHARED}"
    return rows


def conversation(number: int) -> dict[str, Any]:
    said = [("user", prose(f"u{number}", 6)), ("assistant", prose(f"a{number}", 20))]
    return {"id": f"chat-{number}", "m": [{"role": role, "content": text} for role, text in said]}


@pytest.fixture(scope="module")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shuffled = {"name": "mixed", "input": "decontaminated_train", "sequence_length": 64, "shuffle": True}
    pairs = {"name": "pairs", "mode": "summarization", "input": {"location": "raw/own"}, "sequence_length": 128}
    train = {"name": "train", "input": "decontaminated_train", "sequence_length": 64}
    exported = {"name": "exported", "input": "decontaminated_train", "format": "megatron"}
    texts = {"name": "texts", "input": "decontaminated_train", "format": "text", "files": "parquet"}
    chats = {
        "name": "chats",
        "format": "text",
        "rows": "messages",
        "input": {"location": "raw/chats", "messages_key": "m"},
    }
    masked = {**deepcopy(pairs), "name": "masked", "format": "parquet"}
    made_of = {"web": {"input": "decontaminated_train"}, "sft": {"dataset": "masked"}}
    parts = {"name": "parts", "format": "arrow", "sequence_length": 128, "parts": made_of}
    datasets = [train, shuffled, pairs, exported, texts, chats, masked, parts]
    changes = {**REMOVE, "datasets": datasets, "split.holdout": 0}
    folder = write_small(tmp_path_factory.mktemp("takedown"), changes)
    write_raw(folder, "books/one.jsonl", rows_with_a_shared_passage())
    own = [{"id": f"qa-{n}", "prompt": prose(f"q{n}", 6), "completion": prose(f"a{n}", 6)} for n in range(4)]
    write_raw(folder, "own/a.jsonl", own)
    write_raw(folder, "chats/a.jsonl", [conversation(number) for number in range(4)])
    (folder / "lists").mkdir()
    (folder / "lists/legal.txt").write_text("# nothing so far\n")
    assert not drive(opened(folder)).failed
    return folder


@pytest.fixture
def work(built_once: Path, tmp_path: Path) -> Work:
    folder = tmp_path / "work"
    shutil.copytree(built_once, folder)
    return Work(folder)


def verify(folder: Path) -> tuple[int, dict[str, Any]]:
    shown = folder / "lists/legal.txt"
    done = CliRunner().invoke(app, ["verify", "-c", str(folder / "corpus.yaml"), "--absent", str(shown), "--json"])
    return done.exit_code, json.loads(done.stdout)


def keep_old_tokens(corpus: Corpus, old: Record, content: dict[str, bytes]) -> Record:
    """Puts the files of an older record in the place of today's, and makes the ledger say that this is as it should."""
    today = corpus.ledger.read(old.asset, old.partition)
    assert today is not None
    for path, stored in content.items():
        corpus.storage.write(path, stored)
    forged = msgspec.structs.replace(
        today, files=old.files, digest=old.digest, segments=old.segments, counters=old.counters
    )
    corpus.ledger.write(forged)
    return forged


def stored(corpus: Corpus, record: Record) -> dict[str, bytes]:
    return {file.path: Path(corpus.storage.fetch(file.path)).read_bytes() for file in record.files}


def rebuilt_with_old_tokens(work: Work, asset: str, line: str) -> Record:
    """The record of token files which were made before a document was removed, in a corpus that is else up to date."""
    corpus = opened(work.folder)
    before = {record.partition: (record, stored(corpus, record)) for record in corpus.ledger.records(asset).values()}
    (work.folder / "lists/legal.txt").write_text(f"{line}\n")
    built = drive(corpus)
    assert not built.failed
    assert verify(work.folder)[0] == 0
    changed = next(key for key in sorted(built.of(asset), key=str))
    return keep_old_tokens(opened(work.folder), *before[changed])


@pytest.mark.parametrize(
    ("asset", "line", "identifier"),
    [
        ("train_tokens", f"books\t{raw_rows()['books/one.jsonl'][5]['id']}", raw_rows()["books/one.jsonl"][5]["id"]),
        ("mixed_tokens", raw_rows()["web/b.jsonl.zst"][3]["id"], raw_rows()["web/b.jsonl.zst"][3]["id"]),
        ("pairs_tokens", "qa-2", "qa-2"),
        ("exported_tokens", raw_rows()["web/b.jsonl.zst"][3]["id"], raw_rows()["web/b.jsonl.zst"][3]["id"]),
        ("parts_tokens", raw_rows()["web/b.jsonl.zst"][3]["id"], raw_rows()["web/b.jsonl.zst"][3]["id"]),
        ("parts_masked_token_stream", *[raw_rows()["books/three.jsonl"][3]["id"]] * 2),
        ("parts_tokens", "qa-1", "qa-1"),
        ("decontaminated_train_token_stream", *[raw_rows()["books/three.jsonl"][3]["id"]] * 2),
    ],
)
def test_rows_that_an_earlier_build_left_are_found(work: Work, asset: str, line: str, identifier: str) -> None:
    forged = rebuilt_with_old_tokens(work, asset, line)
    code, found = verify(work.folder)
    assert code == 1
    assert found["texts"] >= 1
    assert found["found"], found
    for row in found["found"]:
        assert row["partition"].startswith(f"{asset}/")
        assert row["file"] in {file.path for file in forged.files}
        assert (row["id"], row["named"].endswith("legal.txt line 1")) == (identifier, True)
        assert row["tokens"] >= 16


@pytest.mark.parametrize(
    ("asset", "identifier"), [("texts_texts", raw_rows()["web/b.jsonl.zst"][3]["id"]), ("chats_texts", "chat-2")]
)
def test_rows_of_texts_are_found_by_name_and_by_their_words(work: Work, asset: str, identifier: str) -> None:
    rebuilt_with_old_tokens(work, asset, identifier)
    code, found = verify(work.folder)
    by_name = [row for row in found["found"] if not row["tokens"]]
    by_words = [row for row in found["found"] if row["tokens"]]
    assert (code, len(by_name)) == (1, 1)
    assert by_words
    for row in found["found"]:
        assert (row["id"], row["row"], row["file"]) == (identifier, by_name[0]["row"], by_name[0]["file"])
        assert row["partition"].startswith(f"{asset}/")
    assert all(row["tokens"] >= 16 for row in by_words)


def test_a_person_is_told_file_row_and_document(work: Work) -> None:
    forged = rebuilt_with_old_tokens(work, "pairs_tokens", "qa-2")
    arguments = ["verify", "-c", str(work.folder / "corpus.yaml"), "--absent", str(work.folder / "lists/legal.txt")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    assert f"{forged.files[0].path} row 2: id 'qa-2'" in done.stdout
    assert "4 texts of raw documents looked for in" in done.stdout


def test_a_passage_that_kept_documents_have_too_is_no_alarm(work: Work) -> None:
    (work.folder / "lists/legal.txt").write_text(f"{raw_rows()['books/one.jsonl'][5]['id']}\n")
    assert not drive(opened(work.folder)).failed
    code, found = verify(work.folder)
    assert (code, found["found"], found["unproven"]) == (0, [], [])
    assert found["shared"] > 0
    kept = raw_rows()["books/one.jsonl"][6]["id"]
    (work.folder / "lists/legal.txt").write_text(f"{raw_rows()['books/one.jsonl'][5]['id']}\n{kept}\n")
    assert not drive(opened(work.folder)).failed
    code, found = verify(work.folder)
    assert (code, found["shared"]) == (0, 0)


def test_a_row_with_passages_of_two_documents_counts_once(work: Work) -> None:
    rows, other = rows_with_a_shared_passage(), prose("other", 30)
    rows[6]["text"] += f" {other}"
    rows[7]["text"] += f" {other}"
    work.rows("books/one.jsonl", rows)
    (work.folder / "lists/both.txt").write_text(f"{rows[5]['id']}\n{rows[7]['id']}\n")
    assert not drive(opened(work.folder)).failed

    def shared(*named: int) -> int:
        (work.folder / "lists/legal.txt").write_text("".join(f"{rows[number]['id']}\n" for number in named))
        return int(verify(work.folder)[1]["shared"])

    assert max(shared(5), shared(7)) < shared(5, 7) < shared(5) + shared(7)


def test_texts_too_short_to_be_looked_for_are_counted(work: Work) -> None:
    rows = rows_with_a_shared_passage()
    rows.append({"id": SHORT, "text": "so"})
    work.rows("books/one.jsonl", rows)
    (work.folder / "lists/legal.txt").write_text(f"{SHORT}\n")
    assert not drive(opened(work.folder)).failed
    code, found = verify(work.folder)
    assert (code, found["texts"]) == (0, 1)
    assert found["too_short"] == 13  # once for each dataset and token stream, of parts once for each


def test_raw_files_that_cannot_be_read_leave_the_proof_open(work: Work) -> None:
    (work.folder / "raw/books/two.jsonl.gz").write_bytes(b"no gzip")
    code, found = verify(work.folder)
    assert code == 1
    assert any("raw file books/two.jsonl.gz: its texts could not be looked for" in line for line in found["unproven"])


def test_rows_without_their_tokenizer_leave_the_proof_open(work: Work) -> None:
    line = raw_rows()["books/one.jsonl"][3]["id"]
    (work.folder / "lists/legal.txt").write_text(f"{line}\n")
    assert not drive(opened(work.folder)).failed
    corpus = opened(work.folder)
    corpus.ledger.forget("tokenizer", None)
    code, found = verify(work.folder)
    assert code == 1
    assert any("the tokenizer of its ids is not in the store" in place for place in found["unproven"])
