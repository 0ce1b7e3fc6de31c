"""Files that wait to be sent to a bucket: their errors have a place, and the first one is told. No store is asked."""

import os
from pathlib import Path

import pytest

from resources.storage.file_cache import FileCache
from resources.storage.s3.address import Address
from resources.storage.s3.client import S3Settings
from resources.storage.s3.upload import S3Unpublished, Upload

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
