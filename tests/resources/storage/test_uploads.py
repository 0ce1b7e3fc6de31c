"""Files that wait to be sent to a bucket: their errors have a place, and the first one is told. No store is asked."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError

from resources.errors import StoreAccessError
from resources.storage.file_cache import FileCache
from resources.storage.s3 import objects
from resources.storage.s3.address import Address
from resources.storage.s3.client import S3Settings
from resources.storage.s3.upload import S3Unpublished, Upload
from resources.storage.small_objects.conditional import ChangedError

BUCKET = Address("bucket", "corpus")


def test_a_file_that_cannot_be_read_again_is_named(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)  # The system reads no folder.
    try:
        with pytest.raises(OSError, match=r"while reading again: 'tokens/a.h5 \(kept here until it is sent\)'"):
            Upload(BUCKET, S3Settings(), "tokens/a.h5", descriptor).part(0, 10, lambda **_: None)
    finally:
        os.close(descriptor)


def test_what_is_given_up_hides_no_error_and_leaves_nothing_open(tmp_path: Path) -> None:
    pending = S3Unpublished(BUCKET, S3Settings(), FileCache(tmp_path, 1000), "store")
    scratch, other = pending.scratch(), pending.scratch()
    scratch.write(b"in the buffer")
    os.close(scratch.fileno())
    pending.create("a")
    pending.discard()
    assert other.closed


@pytest.mark.parametrize("status", [404, 409, 412])
def test_a_store_that_refuses_a_write_without_a_condition_fails(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    def refuses(**_: object) -> None:
        told = {"Error": {"Code": str(status)}, "ResponseMetadata": {"HTTPStatusCode": status}}
        raise ClientError(cast(Any, told), "PutObject")

    monkeypatch.setattr(objects, "client", lambda _: SimpleNamespace(put_object=refuses))
    held = objects.S3Objects(S3Settings(), BUCKET)
    with pytest.raises(StoreAccessError, match=r"s3://bucket/corpus/ledger/a\.json"):
        held.write("ledger/a.json", b"")
    with pytest.raises(ChangedError):
        held.create("ledger/a.json", b"")
