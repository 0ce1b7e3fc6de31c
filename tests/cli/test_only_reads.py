"""Commands that say they change nothing leave the store as it is, whatever time a write would have saved."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from resources.ledger import ledger
from resources.storage.interface import Unpublished
from resources.storage.local import LocalStorage
from tests.build.small import Work, opened, raw_rows

ROW = raw_rows()["books/three.jsonl"][2]["id"]
READERS = {
    "plan": ["plan", "--json"],
    "what if": ["plan", "--set", "split.holdout=0.5"],
    "estimate": ["estimate", "--seconds", "5"],
    "show": ["show", "normalized_documents", "books--one"],
    "why": ["why", ROW],
    "tokens": ["tokens"],
    "packing": ["packing", "train"],
    "verify": ["verify", "--deep"],
    "clean": ["clean", "--dry-run"],
    "diff": ["diff", "STORE", "STORE"],
    "copy": ["copy", "COPY"],
}


@pytest.fixture
def unwritable(work: Work, monkeypatch: pytest.MonkeyPatch) -> Work:
    """A built corpus whose store fails who writes to it; every look at records is worth a snapshot."""
    begin, root = LocalStorage.begin, Path(opened(work.folder).storage.place)

    def refuse(store: LocalStorage) -> Unpublished:
        assert store.root != root, "the store of the corpus was written to"
        return begin(store)

    monkeypatch.setattr(LocalStorage, "begin", refuse)
    monkeypatch.setattr(ledger, "_is_much", lambda _changed, _records: True)
    for snapshot in (root / "ledger" / ".snapshots").glob("*"):
        snapshot.unlink()
    return work


def asked(work: Work, arguments: list[str]) -> tuple[int, BaseException | None]:
    places = {"STORE": str(work.folder / "corpus"), "COPY": str(work.folder / "copy")}
    command = [places.get(one, one) for one in arguments]
    if "STORE" not in arguments:
        command += ["--config", str(work.folder / "corpus.yaml")]
    done = CliRunner().invoke(app, command)
    return done.exit_code, None if isinstance(done.exception, SystemExit) else done.exception


@pytest.mark.parametrize("command", READERS)
def test_a_reader_leaves_the_store_as_it_is(unwritable: Work, command: str) -> None:
    top = unwritable.folder / "corpus"
    before = {file: file.stat().st_mtime_ns for file in top.rglob("*")}
    assert asked(unwritable, READERS[command]) == (0, None)
    assert {file: file.stat().st_mtime_ns for file in top.rglob("*")} == before


def test_who_writes_would_be_found(unwritable: Work) -> None:
    code, error = asked(unwritable, ["build"])
    assert (code, type(error)) == (1, AssertionError)


def test_verify_writes_only_to_mend(work: Work) -> None:
    record = opened(work.folder).ledger.records("short_documents")["books--one"]
    Path(work.folder, "corpus", record.files[0].path).write_bytes(b"damage")
    config = ["--config", str(work.folder / "corpus.yaml"), "--json"]
    done = CliRunner().invoke(app, ["verify", "--deep", *config])
    assert (done.exit_code, json.loads(done.stdout)["mended"]) == (1, [])
    done = CliRunner().invoke(app, ["verify", "--deep", "--mend", *config])
    assert (done.exit_code, json.loads(done.stdout)["mended"]) == (0, ["short_documents/books--one"])
