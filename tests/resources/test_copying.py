"""A partition is copied only while the target is held, and only in the place of the record that was there before."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from resources.copying import Copier
from resources.errors import BuilderLostError, LeaseLostError
from resources.formats.file_format import PLAIN
from resources.ledger.ledger import Ledger
from resources.ledger.records import FileRecord, Record
from resources.storage.holders import this_process
from resources.storage.interface import Storage
from resources.storage.local.store import LocalStorage
from resources.storage.removal import remove_files
from resources.storage.s3.store import S3Storage
from resources.storage.small_objects.builders import name_of
from tests.object_store import Server
from tests.resources.storage.conftest import in_bucket

CONTENT = b"as it was made"
PATH = "a/one.bin"


@pytest.fixture
def bucket(simulation: Server, tmp_path: Path) -> S3Storage:
    return in_bucket(simulation, tmp_path)


def record(code_version: str) -> Record:
    return Record(
        asset="asset",
        partition="one",
        recipe="recipe",
        digest="digest",
        inputs={},
        parameters={},
        code_version=code_version,
        files=[FileRecord(PATH, len(CONTENT), PLAIN.digest(lambda _: BytesIO(CONTENT), PATH))],
    )


def source(folder: Path) -> Ledger:
    """A store with one partition."""
    storage = LocalStorage(folder / "source", sync=False)
    storage.write(PATH, CONTENT)
    return Ledger(storage)


def copied(folder: Path, target: Storage, meanwhile: Callable[[int], object] = lambda _: None) -> None:
    """Copies the partition; something else happens while its bytes are on their way."""
    found = source(folder)
    found.write(record("copied"))
    with target.exclusive():
        Copier(found, Ledger(target), meanwhile).copy(record("copied"))


def version(target: Storage) -> str | None:
    found = Ledger(target).read("asset", "one")
    return None if found is None else found.code_version


def test_a_copy_takes_the_place_of_an_older_record(bucket: S3Storage, tmp_path: Path) -> None:
    Ledger(bucket).write(record("older"))
    copied(tmp_path, bucket)
    assert version(bucket) == "copied"


def test_who_was_given_up_copies_and_removes_nothing(bucket: S3Storage, tmp_path: Path) -> None:
    with pytest.raises(BuilderLostError):
        copied(tmp_path, bucket, lambda _: bucket.delete(name_of(this_process())))
    assert version(bucket) is None
    bucket.write(PATH, CONTENT)
    with bucket.exclusive():
        bucket.delete(name_of(this_process()))
        with pytest.raises(BuilderLostError):
            remove_files(bucket, [PATH])
    assert bucket.stat(PATH) is not None
    with bucket.exclusive():
        remove_files(bucket, [PATH])
    assert bucket.stat(PATH) is None


def test_a_copy_does_not_replace_a_record_that_another_wrote_meanwhile(bucket: S3Storage, tmp_path: Path) -> None:
    Ledger(bucket).write(record("older"))
    with pytest.raises(LeaseLostError):
        copied(tmp_path, bucket, lambda _: Ledger(bucket).write(record("newer")))
    assert version(bucket) == "newer"
