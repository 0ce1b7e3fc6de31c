"""Memory of a large object: some parts are in it while it is sent, or read in order, however large it is."""

import os
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

import pytest

from resources.storage.s3.client import traffic
from resources.storage.s3.ranges import AHEAD
from resources.storage.s3.store import S3Storage

pytestmark = pytest.mark.slow
SIZE, BLOCK = 200 << 20, 1 << 20
STEP, MORE = 1 << 20, 4 << 20
"""Bytes that the client reads of a part at once, to digest it; and for all else, such as its connections."""


@contextmanager
def peak() -> Iterator[list[int]]:
    """Notes the most bytes that Python held at once."""
    found: list[int] = []
    tracemalloc.start()
    try:
        yield found
        found.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def test_some_parts_of_a_large_object_are_in_memory(bucket: S3Storage) -> None:
    part, sent, read = bucket.settings.part_size, sha256(), sha256()
    unpublished = bucket.begin()
    with unpublished.create("a/large.jsonl.gz") as file:
        for _ in range(SIZE // BLOCK):
            block = os.urandom(BLOCK)
            sent.update(block)
            file.write(block)
    before = traffic().requests
    with peak() as writing:
        unpublished.publish()
    with peak() as reading, bucket.open(unpublished.stored("a/large.jsonl.gz")) as content:
        while block := content.read(BLOCK):
            read.update(block)
    assert read.digest() == sent.digest()
    for request in ("UploadPart", "GetObject"):
        assert traffic().requests[request] - before.get(request, 0) >= SIZE // part
    assert writing[0] < bucket.settings.concurrency * (part + STEP) + MORE < SIZE // 2
    # The parts on their way are held twice for a moment, when the pieces in which they came are put together.
    assert reading[0] < (AHEAD + 2) * part + AHEAD * part + MORE < SIZE // 2
