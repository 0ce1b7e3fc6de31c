"""A copied corpus is the corpus: equal content, all fresh, and nobody else's store was touched."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.copying import Copied, _require_apart, copy_corpus
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.unowned import unowned_files
from corpus_assets.verification.verify import verify
from resources.errors import ConfigError, StorageError
from resources.ledger.ledger import record_path
from resources.storage.file_cache import FileCache
from resources.storage.local.locks import LEASES, LOCK
from resources.storage.local.unpublished import TEMPORARY
from resources.storage.s3.address import Address
from resources.storage.s3.client import S3Settings
from resources.storage.s3.store import S3Storage
from tests.build.small import Work, digests, drive, opened, raw_rows, write_config

COPY = "storage.root=copy"


def other(folder: Path) -> Corpus:
    return Corpus.open(folder / "corpus.yaml", [COPY])


def copied(folder: Path, assets: list[str] | None = None) -> Copied:
    return copy_corpus(opened(folder), other(folder), assets)


def stored(store: Path) -> dict[str, bytes]:
    """Bytes of all files but what only saves time."""
    files = {str(path.relative_to(store)): path for path in store.rglob("*") if path.is_file()}
    beside = ("ledger/.", TEMPORARY, LOCK, LEASES, "owner.json")
    return {name: path.read_bytes() for name, path in files.items() if not name.startswith(beside)}


def test_a_copy_is_equal_and_fresh_and_takes_the_place_of_its_source(work: Work) -> None:
    result = copied(work.folder)
    assert (result.errors, result.already_there, result.gone, result.removed) == ([], 0, 0, 0)
    assert stored(work.folder / "copy") == stored(work.folder / "corpus")
    records = [
        record
        for asset in opened(work.folder).ledger.assets()
        for record in opened(work.folder).ledger.records(asset).values()
    ]
    assert result.copied == len(records)
    assert result.bytes == sum(file.bytes for record in records for file in record.files)
    before = digests(opened(work.folder))
    shutil.rmtree(work.folder / "corpus")
    write_config(work.folder, {"storage.root": "copy"})
    assert work.plan() == {}
    assert digests(opened(work.folder)) == before
    assert verify(opened(work.folder), deep=True).bad == []
    assert unowned_files(opened(work.folder), opened(work.folder).ledger) == []
    work.rows("books/one.jsonl", raw_rows()["books/one.jsonl"][:-1])
    assert not drive(opened(work.folder)).failed


def test_a_second_copy_moves_only_what_changed(work: Work) -> None:
    copied(work.folder)
    again = copied(work.folder)
    assert (again.copied, again.files, again.bytes) == (0, 0, 0)
    work.rows("books/one.jsonl", raw_rows()["books/one.jsonl"][:-1])
    assert not drive(opened(work.folder)).failed
    before, now = digests(other(work.folder)), digests(opened(work.folder))
    changed = {name for name in now if before.get(name) != now[name]}
    result = copied(work.folder)
    assert len(changed) <= result.copied < len(now)
    assert digests(other(work.folder)) == now
    assert stored(work.folder / "copy") == stored(work.folder / "corpus")


def test_what_the_copy_has_of_its_own_stays(work: Work) -> None:
    """Partitions that the source lacks, and files that no record names."""
    copied(work.folder)
    (work.folder / "copy/notes.txt").write_text("mine")
    opened(work.folder).ledger.forget("short_documents", "books--one")
    result = copied(work.folder)
    assert (result.copied, result.removed) == (0, 0)
    assert (work.folder / "copy/notes.txt").read_text() == "mine"
    assert other(work.folder).ledger.read("short_documents", "books--one") is not None


def test_a_damaged_file_of_the_copy_is_copied_again(work: Work) -> None:
    copied(work.folder)
    (work.folder / "copy/minhashes/books/one.signatures.npy").unlink()
    (work.folder / "copy" / record_path("minhashes", "web--b")).write_bytes(b"{}")
    result = copied(work.folder)
    assert (result.copied, result.errors) == (2, [])
    assert stored(work.folder / "copy") == stored(work.folder / "corpus")


def test_a_record_alone_is_copied_without_its_files(work: Work) -> None:
    copied(work.folder)
    ledger = opened(work.folder).ledger
    record = ledger.read("raw_source", "books--one")
    assert record is not None
    ledger.write(record.with_seen({**record.seen, "mtime": 1}))
    result = copied(work.folder)
    assert (result.copied, result.files, result.bytes) == (1, 0, 0)
    assert other(work.folder).ledger.read("raw_source", "books--one") == ledger.read("raw_source", "books--one")


def test_only_some_assets(work: Work) -> None:
    result = copied(work.folder, ["train_tokens"])
    assert result.errors == []
    assert {path.split("/")[0] for path in stored(work.folder / "copy")} == {"tokens", "ledger"}
    assert other(work.folder).ledger.assets() == {"train_tokens"}
    whole = copied(work.folder)
    assert whole.already_there == result.copied
    assert stored(work.folder / "copy") == stored(work.folder / "corpus")


def test_another_corpus_or_something_else_is_refused_and_left_alone(work: Work, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    shutil.copytree(work.folder, theirs)
    before = stored(theirs / "corpus")
    config = work.folder / "corpus.yaml"
    with pytest.raises(StorageError, match="belongs to corpus"):
        copy_corpus(opened(work.folder), Corpus.open(config, [f"storage.root={theirs}/corpus"]))
    assert stored(theirs / "corpus") == before
    (theirs / "corpus/owner.json").unlink()
    with pytest.raises(StorageError, match=r"no owner\.json"):
        copy_corpus(opened(work.folder), Corpus.open(config, [f"storage.root={theirs}/corpus"]))
    (theirs / "corpus/owner.json").write_text("{")
    with pytest.raises(StorageError, match=r"no owner\.json"):
        copy_corpus(opened(work.folder), Corpus.open(config, [f"storage.root={theirs}/corpus"]))
    assert before.items() <= stored(theirs / "corpus").items()


@pytest.mark.parametrize("root", ["corpus", "corpus/inner", "."])
def test_stores_that_overlap_are_refused(work: Work, root: str) -> None:
    with pytest.raises(ConfigError, match="overlaps"):
        copy_corpus(opened(work.folder), Corpus.open(work.folder / "corpus.yaml", [f"storage.root={root}"]))


def test_places_of_one_name_at_two_servers_do_not_overlap(tmp_path: Path) -> None:
    def at(endpoint: str | None, prefix: str = "x") -> S3Storage:
        return S3Storage(Address("bucket", prefix), S3Settings(endpoint=endpoint), FileCache(tmp_path, 1))

    for one, other in ((at("http://a"), at("http://b")), (at(None), at("http://b")), (at("http://a"), at(None, "x/y"))):
        _require_apart(one, other)
        _require_apart(other, one)
    for same in (at("http://a"), at("http://a", "x/y")):
        with pytest.raises(ConfigError, match="overlaps"):
            _require_apart(at("http://a"), same)


def test_links_do_not_hide_that_stores_overlap(work: Work) -> None:
    (work.folder / "link").symlink_to(work.folder / "corpus")
    with pytest.raises(ConfigError, match="overlaps"):
        copy_corpus(opened(work.folder), Corpus.open(work.folder / "corpus.yaml", ["storage.root=link"]))


def test_the_command(work: Work) -> None:
    config = str(work.folder / "corpus.yaml")
    done = CliRunner().invoke(app, ["copy", "copy", "-c", config, "--json", "--set", "storage.sync=false"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["to"] == str(work.folder / "copy")
    assert (said["errors"], said["already_there"]) == ([], 0)
    again = CliRunner().invoke(app, ["copy", "copy", "-c", config, "--only", "group:dataset_train", "--jobs", "1"])
    assert again.exit_code == 0, again.output
    assert "copied 0 partitions" in again.stdout


def test_the_command_refuses_other_keys_and_unknown_assets(work: Work) -> None:
    config = str(work.folder / "corpus.yaml")
    for given in (["--set", "mix.chunks=4"], ["--only", "nonsense"]):
        done = CliRunner().invoke(app, ["copy", "copy", "-c", config, *given])
        assert isinstance(done.exception, ConfigError)
    assert not (work.folder / "copy").exists()
    assert yaml.safe_load((work.folder / "corpus.yaml").read_text())["mix"]["chunks"] == 3
