"""A corpus in a bucket: the content of a local build, and the same few partitions after a change."""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread

import pytest

from corpus_assets.cli.clean import clean_corpus
from corpus_assets.cli.sampling import Asked, write_sample_config
from corpus_assets.cli.verify import verify
from corpus_assets.corpus import Corpus
from resources.errors import DamagedFileError
from resources.formats.known import format_of
from resources.ledger import Ledger
from resources.stage.partition import Partition
from resources.storage.interface import Storage
from resources.storage.s3 import S3Storage
from tests.build.small import Built, digests, drive, opened, prose, raw_rows, write_config, write_raw, write_small
from tests.object_store import KEY, SECRET, Server


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue(getattr(request, "param", "simulation"))
    return found


@pytest.fixture
def folder(server: Server, tmp_path: Path) -> Path:
    """A small corpus whose store is in a bucket."""
    place = tmp_path / "remote"
    root = f"s3://{server.bucket}/builds/{tmp_path.parent.name}-{tmp_path.name}"
    storage = {"root": root, "s3": server.section, "cache": {"folder": "cache"}}
    place.mkdir()
    return write_small(place, {"storage": storage})


def local_twin(folder: Path, beside: Path) -> Path:
    """The same corpus, whose store is a local folder."""
    shutil.copytree(folder / "raw", beside / "raw")
    write_config(beside)
    return beside


def build(folder: Path) -> Built:
    """Builds all of a corpus."""
    done = drive(opened(folder))
    assert (done.failed, done.waiting) == ([], [])
    return done


def begin(folder: Path) -> Corpus:
    """Builds the first stages of a corpus."""
    corpus = opened(folder)
    done = drive(corpus, [corpus.graph[name] for name in ("inventory", "raw_source", "normalized_documents")])
    assert (done.failed, done.waiting) == ([], [])
    return corpus


def change(folder: Path) -> None:
    rows = raw_rows()["books/three.jsonl"]
    rows[0]["text"] = prose("something else")
    write_raw(folder, "books/three.jsonl", rows)


@pytest.mark.slow
@pytest.mark.parametrize("server", ["real_server"], indirect=True)
def test_the_content_is_that_of_a_local_build(folder: Path, tmp_path: Path) -> None:
    twin = local_twin(folder, tmp_path / "local")
    assert build(folder).recomputed == build(twin).recomputed
    assert digests(opened(folder)) == digests(opened(twin))
    assert drive(opened(folder)).recomputed == set()
    assert sorted(item.name for item in folder.iterdir()) == ["cache", "corpus.yaml", "raw"]
    for place in (folder, twin):
        change(place)
    assert build(folder).recomputed == build(twin).recomputed
    assert digests(opened(folder)) == digests(opened(twin))
    cleaned = clean_corpus(opened(folder), dry_run=False)
    assert (cleaned.partitions, cleaned.unowned) == (0, 0)
    assert verify(opened(folder), deep=True).bad == []


def _contradictions(storage: Storage, stop: Event, seen: dict[str, set[str]]) -> list[str]:
    """Reads records and their files until told to stop; returns files whose content was not that of the record."""
    found: list[str] = []
    while not stop.is_set():
        ledger = Ledger(storage, snapshots=False)
        for record in ledger.records("normalized_documents").values():
            for file in record.files:
                try:
                    digest = format_of(file.path).digest(storage.open, file.path)
                except FileNotFoundError:
                    continue  # The build has ended and removed the older version.
                seen.setdefault(str(record.partition), set()).add(digest)
                if digest != file.digest:
                    found.append(file.path)
    return found


def test_a_reader_never_sees_content_that_its_record_does_not_name(folder: Path) -> None:
    begin(folder)
    stop, found, seen = Event(), list[str](), dict[str, set[str]]()
    reader = Thread(target=lambda: found.extend(_contradictions(opened(folder).storage, stop, seen)))
    reader.start()
    try:
        for number in range(3):
            known = len(seen.get("books--three", ()))
            rows = raw_rows()["books/three.jsonl"]
            rows[0]["text"] = prose(f"version {number}")
            write_raw(folder, "books/three.jsonl", rows)
            begin(folder)
            limit = time.monotonic() + 120
            while len(seen.get("books--three", ())) <= known:
                assert reader.is_alive() and time.monotonic() < limit, "the reader sees no new version"
                time.sleep(0.01)
    finally:
        stop.set()
        reader.join()
    assert found == []


def test_the_older_version_is_there_until_the_record_switches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = begin(folder).ledger.records("normalized_documents")["books--three"]
    change(folder)
    removed: list[str] = []
    monkeypatch.setattr(S3Storage, "delete", lambda self, path: removed.append(path))
    corpus = begin(folder)
    after = opened(folder).ledger.records("normalized_documents")["books--three"]
    assert after.digest != before.digest
    assert not any(path.startswith("ledger/") for path in removed), "the record was removed before it was replaced"
    old, new = ({file.path for file in record.files} for record in (before, after))
    assert old - new <= set(removed) and not new & set(removed)
    for file in (*before.files, *after.files):
        assert format_of(file.path).digest(corpus.storage.open, file.path) == file.digest


def test_a_damaged_object_is_noticed_and_made_again(folder: Path) -> None:
    corpus = begin(folder)
    record = corpus.ledger.records("normalized_documents")["books--three"]
    file = next(file for file in record.files if file.path.endswith(".jsonl.gz"))
    content = bytearray(corpus.storage.read(file.path, 0, file.bytes))
    content[len(content) // 2] ^= 1
    corpus.storage.write(file.path, bytes(content))
    assert file.path in {problem.file for problem in verify(opened(folder), deep=True).bad}
    assert list(Partition(corpus.storage, record).lines()), "this machine has a sound copy"
    shutil.rmtree(folder / "cache")
    with pytest.raises(DamagedFileError):
        list(Partition(corpus.storage, record).lines())
    corpus.storage.delete(file.path)
    begin(folder)
    assert verify(opened(folder), deep=True).bad == []


def test_a_damaged_copy_is_not_read_again(folder: Path) -> None:
    corpus = begin(folder)
    record = corpus.ledger.records("normalized_documents")["books--three"]
    for copy in (folder / "cache").iterdir():
        copy.write_bytes(copy.read_bytes()[:-9])
    with pytest.raises(DamagedFileError):
        list(Partition(corpus.storage, record).lines())
    assert len(list(Partition(corpus.storage, record).lines())) == 6


def test_objects_that_no_record_names_are_cleaned(folder: Path) -> None:
    begin(folder).storage.write("documents/books/@0123456789abcdef/one.jsonl.gz", b"of a killed writer")
    assert clean_corpus(opened(folder), dry_run=True).unowned == 1
    assert clean_corpus(opened(folder), dry_run=False).unowned == 1
    assert clean_corpus(opened(folder), dry_run=True).unowned == 0
    assert verify(opened(folder), deep=True).bad == []


def test_a_sample_lies_in_a_folder_of_its_own(folder: Path) -> None:
    file = write_sample_config(folder / "corpus.yaml", Asked(share=0.5))
    sample = Corpus.open(file)
    assert sample.storage.place == str(folder / "corpus-sample-50-percent" / "corpus")
    assert not (folder / "s3:").exists()


@pytest.mark.slow
@pytest.mark.parametrize("server", ["real_server"], indirect=True)
def test_the_command_works_and_tells_no_credentials(folder: Path, server: Server) -> None:
    program = str(Path(sys.executable).with_name("corpus"))
    said = ""
    for command in ("build", "plan --check", "verify --deep", "clean", "doctor", "show train_tokens chunk-0000"):
        done = subprocess.run([program, *command.split()], cwd=folder, check=False, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        said += done.stdout + done.stderr
    assert f"s3://{server.bucket}/builds/" in said
    assert "conditional writes" in said
    storage = opened(folder).storage
    for path in storage.paths("ledger"):
        content = storage.read(path, 0, 1 << 24)
        said += content.decode(errors="replace")
    for file in folder.rglob("*"):
        if file.is_file() and file.name != "corpus.yaml":
            said += file.read_bytes().decode(errors="replace")
    assert KEY not in said and SECRET not in said
    assert sorted(item.name for item in folder.iterdir() if not item.name.startswith(".")) == [
        "cache",
        "corpus.yaml",
        "raw",
    ]
