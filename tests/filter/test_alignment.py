"""Files of attributes that do not fit their documents: the error names file and row."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus_assets.filter.rows import blocks
from resources.errors import AlignmentError
from resources.ledger.ledger import FileRecord
from resources.stage.partition import Partition
from tests.filter.corpora import ONE, filtered, partitions, small

Change = Callable[[list[bytes]], list[bytes]]


def read(documents: Partition, attributes: Partition) -> int:
    return sum(len(block.rows) for block in blocks(documents, [attributes]))


@pytest.mark.parametrize(
    ("change", "row", "message"),
    [
        (lambda lines: lines[:-2], 7, "is missing: 7 rows for 9 documents"),
        (lambda lines: [*lines, lines[-1]], 9, "is one too many"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], 1, "has id "),
        (lambda lines: [*lines[:4], b"{broken\n", *lines[5:]], 4, "is no row of attributes"),
        (lambda lines: [b"\n", *lines[1:]], 0, "is no row of attributes"),
        (lambda lines: [lines[0].replace(b"[[0,", b"[[0.5,", 1), *lines[1:]], 0, "is no row of attributes"),
    ],
)
@pytest.mark.parametrize("recorded", [True, False])
def test_the_error_names_file_and_row(tmp_path: Path, change: Change, row: int, message: str, recorded: bool) -> None:
    corpus = filtered(small(tmp_path, {"rules": {"quality.gopher_v2.word_count": {"min": 1}}}))
    documents, found = (partitions(corpus, name)[ONE] for name in ("normalized_documents", "quality_attributes"))
    assert read(documents, found) == 9
    path = Path(corpus.storage.fetch(found.file(".jsonl.gz").path))
    lines = change(gzip.decompress(path.read_bytes()).splitlines(keepends=True))
    path.write_bytes(gzip.compress(b"".join(lines)))
    if recorded:
        files = [FileRecord(file.path, 0, file.digest, len(lines)) for file in found.record.files]
        found.record.files[:] = files
    attributes = Partition(corpus.storage, found.record, compared=False)
    with pytest.raises(AlignmentError, match=message) as error:
        read(documents, attributes)
    assert (error.value.path, error.value.row) == ("attributes/quality/books/one.jsonl.gz", row)
