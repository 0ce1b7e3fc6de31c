"""A corpus in a bucket: the content of a local build, and the same few partitions after a change."""

import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

import pytest

from corpus_assets.cli.clean import clean_corpus
from corpus_assets.cli.doctor.health import findings
from corpus_assets.cli.sampling import Asked, write_sample_config
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.building.build import build as whole_build
from corpus_assets.verification.verify import verify
from resources.errors import DamagedFileError, StoreAccessError
from resources.formats.known import format_of
from resources.ledger.ledger import Ledger, Record
from resources.stage import soundness
from resources.stage.partition import Partition
from resources.stage.small_files import SmallFiles
from resources.storage.interface import Entry, Storage
from resources.storage.s3 import ranges as s3_ranges
from resources.storage.s3 import store as s3
from resources.storage.s3.client import client
from resources.storage.s3.store import S3Storage
from tests.build.small import Built, Key, digests, drive, opened, prose, raw_rows, write_config, write_raw, write_small
from tests.object_store import KEY, SECRET, Server
from tests.orchestration.silent import Silent

FIRST = ("inventory", "raw_source")
REBUILT = ("normalized_documents", "short_documents", "minhashes")


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


def begin(folder: Path, then: Sequence[str] = ("normalized_documents",)) -> Corpus:
    """Builds the first stages of a corpus."""
    corpus = opened(folder)
    done = drive(corpus, [corpus.graph[name] for name in (*FIRST, *then)])
    assert (done.failed, done.waiting) == ([], [])
    return corpus


def change(folder: Path, text: str = "something else") -> None:
    rows = raw_rows()["books/three.jsonl"]
    rows[0]["text"] = prose(text)
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


@dataclass
class Read:
    """What a reader met. seen: contents of each partition of an asset. wrong: files with other content than their
    record says. absent: files that were not there; gone: those that a build had begun to remove by then."""

    seen: dict[str, set[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)


def _read_all(storage: Storage, stop: Event, read: Read) -> None:
    """Reads records and then their files until told to stop."""
    while not stop.is_set():
        ledger = Ledger(storage, snapshots=False)
        for asset in REBUILT:
            for record in ledger.records(asset).values():
                _read_files(storage, record, read)


def _read_files(storage: Storage, record: Record, read: Read) -> None:
    for file in record.files:
        try:
            digest = format_of(file.path).digest(storage.open, file.path)
        except FileNotFoundError:
            if file.path not in read.gone:
                read.absent.append(file.path)
            continue
        read.seen.setdefault(f"{record.asset}/{record.partition}", set()).add(digest)
        if digest != file.digest:
            read.wrong.append(file.path)


def test_a_reader_finds_what_its_record_names_until_the_build_has_ended(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(folder, REBUILT)
    stop, read, events = Event(), Read(), list[str]()
    removing, committing = Corpus.remove_obsolete, Ledger.replace

    def removes(corpus: Corpus, replaced: Mapping[Key, Collection[str]]) -> int:
        events.append("removed")
        read.gone.update(*replaced.values())
        return removing(corpus, replaced)

    def commits(ledger: Ledger, record: Record, version: str | None) -> Entry | None:
        events.append("committed")
        return committing(ledger, record, version)

    monkeypatch.setattr(Corpus, "remove_obsolete", removes)
    monkeypatch.setattr(Ledger, "replace", commits)
    reader = Thread(target=_read_all, args=(opened(folder).storage, stop, read))
    reader.start()
    try:
        for number in range(3):
            known = len(read.seen.get("minhashes/books--three", ()))
            change(folder, f"version {number}")
            corpus = opened(folder)
            report = whole_build(corpus, [corpus.graph[name] for name in (*FIRST, *REBUILT)], Silent())
            assert (report.failed, report.waiting, report.recomputed) == ([], [], 2 + len(REBUILT))
            assert events == ["committed"] * report.recomputed + ["removed"]
            events.clear()
            limit = time.monotonic() + 120
            while len(read.seen.get("minhashes/books--three", ())) <= known:
                assert reader.is_alive() and time.monotonic() < limit, "the reader sees no new version"
                time.sleep(0.01)
    finally:
        stop.set()
        reader.join()
    assert (read.wrong, read.absent) == ([], [])
    assert read.gone, "no build removed anything"


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


def test_damaged_copies_on_this_machine_are_no_damage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3, "_READ_ONCE", 0)
    corpus = begin(folder)
    assert verify(opened(folder), deep=True).bad == []
    before = corpus.ledger.records("normalized_documents")
    copies = [item for item in (folder / "cache").rglob("*") if item.is_file() and not item.name.startswith(".")]
    assert len(copies) > len(before)
    for number, copy in enumerate(copies):
        content = bytearray(copy.read_bytes())
        content[-1] ^= 1
        copy.write_bytes(content if number % 2 else b"")
    monkeypatch.setattr(soundness, "_KEPT", SmallFiles(0))
    assert verify(opened(folder), deep=True).bad == []
    done = drive(opened(folder), [corpus.graph[name] for name in ("short_documents", "minhashes", "band_keys")])
    assert done.failed == []
    assert opened(folder).ledger.records("normalized_documents") == before


def test_an_outage_in_the_middle_of_a_file_removes_no_record(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = begin(folder)
    before = corpus.ledger.records("normalized_documents")
    shutil.rmtree(folder / "cache")
    plain, broken = s3_ranges.get, list[str]()

    def get(source: s3_ranges.Object, start: int, size: int, etag: str | None = None) -> s3_ranges.Piece:
        if start and source.name.endswith(".jsonl.gz"):
            broken.append(source.name)
            raise StoreAccessError(f"{source.name}: the store does not answer")
        return plain(source, start, size, etag)

    monkeypatch.setattr(s3_ranges, "get", get)
    monkeypatch.setattr(s3, "FIRST", 200)
    done = drive(opened(folder), [corpus.graph["minhashes"]])
    assert broken and len(done.failed) == len(before)
    assert all("the store does not answer" in reason for reason in done.failed)
    assert opened(folder).ledger.records("normalized_documents") == before


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
def test_doctor_finds_that_there_is_no_such_bucket_and_makes_none(folder: Path, server: Server) -> None:
    wrong = {"storage": {"root": "s3://corpora-of-nobody/x", "s3": server.section, "cache": {"folder": "cache"}}}
    write_config(folder, wrong)
    (found,) = (finding for finding in findings(lambda: opened(folder)) if finding.subject == "storage")
    assert found.broken and "there is no such bucket" in found.found
    buckets = client(server.settings).list_buckets()["Buckets"]
    assert [bucket["Name"] for bucket in buckets] == [server.bucket]


def test_doctor_finds_what_a_build_may_not_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise StoreAccessError("the store refuses to list uploads")

    monkeypatch.setattr("resources.storage.s3.store.old_uploads", refused)
    (found,) = (finding for finding in findings(lambda: opened(folder)) if finding.subject == "storage")
    assert found.broken and found.found == "the store refuses to list uploads"


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
