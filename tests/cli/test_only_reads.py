"""Commands that say they change nothing leave the store as it is, whatever time a write would have saved."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from resources.ledger import ledger
from resources.ledger.ledger import Ledger
from resources.storage.interface import Storage, Unpublished
from resources.storage.local.store import LocalStorage
from resources.storage.read_only import ReadOnlyStorage
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
    "verify --absent": ["verify", "--absent", "NOBODY"],
    "doctor": ["doctor"],
    "clean": ["clean", "--dry-run"],
    "diff": ["diff", "STORE", "STORE"],
    "copy": ["copy", "COPY"],
}
PLACES = {"STORE": "corpus", "COPY": "copy", "NOBODY": "nobody.txt", "STORED": "stored.txt"}


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
    (work.folder / "nobody.txt").write_text("a-document-that-never-was\n")
    (work.folder / "stored.txt").write_text(f"{ROW}\n")
    places = {name: str(work.folder / path) for name, path in PLACES.items()}
    command = [places.get(one, one) for one in arguments]
    if "STORE" not in arguments:
        command += ["--config", str(work.folder / "corpus.yaml")]
    done = CliRunner().invoke(app, command)
    return done.exit_code, None if isinstance(done.exception, SystemExit) else done.exception


def written(work: Work) -> dict[Path, int]:
    """When each file of the store was written."""
    return {file: file.stat().st_mtime_ns for file in (work.folder / "corpus").rglob("*")}


@pytest.mark.parametrize("command", READERS)
def test_a_reader_leaves_the_store_as_it_is(unwritable: Work, command: str) -> None:
    before = written(unwritable)
    assert asked(unwritable, READERS[command]) == (0, None)
    assert written(unwritable) == before


def test_a_document_that_is_stored_is_found_without_a_write(unwritable: Work) -> None:
    """Its texts are read from the raw file and looked for in token files."""
    before = written(unwritable)
    assert asked(unwritable, ["verify", "--absent", "STORED"]) == (1, None)
    assert written(unwritable) == before


@pytest.mark.parametrize("command", ["verify --absent", "doctor"])
def test_a_corpus_is_opened_to_be_read_only(work: Work, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stores: list[object] = []
    made = Ledger.__init__

    def note(self: Ledger, storage: Storage, *, snapshots: bool = True) -> None:
        stores.append(storage)
        made(self, storage, snapshots=snapshots)

    monkeypatch.setattr(Ledger, "__init__", note)
    assert asked(work, READERS[command]) == (0, None)
    assert {type(one) for one in stores} == {ReadOnlyStorage}


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
