"""Files of a store: records, snapshots, rows of documents and attributes, arrays, HDF5, classifiers."""

import io
from typing import Any

import h5py
import numpy as np

from corpus_assets.classifiers import model
from resources.errors import CorpusError
from resources.formats import arrays
from resources.formats.attributes import attribute_rows, flags_of
from resources.formats.documents import decode_document
from resources.formats.hdf5.reader import read_hdf5
from resources.formats.row_tables import packed_rows, sources
from resources.hashing import content_digest
from resources.ledger.records import DAMAGE, FileRecord, Record, decode_record, encode_record
from resources.ledger.snapshots import Seen, decode_snapshot, encode_snapshot
from tests.fuzz.harness import Harness

_WORDS = (b'"asset": ', b'"digest": ', b'"files": ', b"null", b"-1", b"1e400", b"[]", b"{}", b'"\\ud800"')


def _record() -> Record:
    return Record(
        asset="a",
        partition="p",
        recipe="r",
        digest="d",
        inputs={"b/c": "0" * 32},
        parameters={"x": [1, {"y": None}]},
        code_version="1",
        files=[FileRecord("a/b.npy", 10, "0" * 32, 3)],
        statistics={"rows": 3},
    )


def _checked(content: bytes, read: Any) -> None:
    """Reads an input as it is, and with the check that it would need, else only the check would be tried."""
    body = content[: content.rfind(b',\n "check"')] if b',\n "check"' in content else content
    for given in (content, body + b',\n "check": "' + content_digest(body).encode() + b'"\n}'):
        try:
            read(given)
        except DAMAGE:
            continue


def _snapshot(content: bytes) -> None:
    body = content.partition(b"\n")[2]
    for given in (content, content_digest(body).encode() + b"\n" + body):
        try:
            decode_snapshot(given)
        except DAMAGE:
            continue


def _snapshots() -> list[bytes]:
    return [encode_snapshot({"p": Seen(9, "1", _record()), "q": Seen(9, "2", _record())})]


def _hdf5(content: bytes) -> None:
    with read_hdf5(io.BytesIO(content)) as rows:
        for _ in zip(rows.blocks(), range(4), strict=False):
            pass
        rows[:1]


def _hdf5_seeds() -> list[bytes]:
    found = []
    for how in ({}, {"chunks": (2, 3, 8), "compression": "gzip", "shuffle": True}, {"chunks": (1, 3, 8)}):
        stream = io.BytesIO()
        with h5py.File(stream, "w") as file:
            file.create_dataset("data", data=np.arange(4 * 3 * 8, dtype="<i4").reshape(4, 3, 8), **how)
            file.attrs["n_examples"] = 4
        found.append(stream.getvalue())
    return found


def _arrays() -> list[bytes]:
    made = (np.arange(5, dtype="<u4"), np.zeros((2, 3), "<f4"), np.zeros(0, "<i8"))
    return [arrays._header(array.dtype, array.shape) + array.tobytes() for array in made]


def _classifier() -> bytes:
    """Returns a file whose second line is no head: what follows it is that of libraries, which are tried alone."""
    return model.MAGIC + b'{"kind": "linear", "size": 0, "digest": ""}\n'


def _rows(content: bytes) -> None:
    lines = content.splitlines(keepends=True)
    for reading in (attribute_rows, flags_of):
        try:
            list(reading(lines))
        except DAMAGE:
            continue


HARNESSES = [
    Harness(
        "record", lambda content: _checked(content, decode_record), lambda: [encode_record(_record())], words=_WORDS
    ),
    Harness("snapshot", _snapshot, _snapshots, words=_WORDS),
    Harness(
        "document",
        decode_document,
        lambda: [b'{"id": "a", "source": "s", "text": "b", "metadata": {"c": [1]}}'],
        DAMAGE,
        _WORDS,
    ),
    Harness(
        "attribute-rows",
        _rows,
        lambda: [b'{"id": "a", "attributes": {"x": [[0, 1, 2.5]]}, "flagged": true}\n'],
        words=_WORDS,
    ),
    Harness("array", lambda content: arrays.whole(content, "a.npy"), _arrays, (CorpusError, ValueError)),
    Harness("row-table", lambda content: sources(packed_rows(content)), lambda: [bytes(96)], (CorpusError, ValueError)),
    Harness("hdf5", _hdf5, _hdf5_seeds),
    Harness("classifier", lambda content: model.decoded("a", content), lambda: [_classifier()]),
]
