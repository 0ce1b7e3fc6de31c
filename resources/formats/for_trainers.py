"""Files for trainers of which a person can be shown rows; their digests are over the bytes as they are stored."""

from collections.abc import Iterator
from itertools import islice

import msgspec

from resources.formats.codecs import open_zstd
from resources.formats.file_format import PLAIN, FileFormat, Open

_READ_ROWS = 64


def _zstd_lines(open_file: Open, path: str, rows: int) -> Iterator[str]:
    with open_file(path) as raw, open_zstd(raw) as lines:
        yield from (line.decode().rstrip("\n") for line in islice(lines, rows))


def _table_rows(open_file: Open, path: str, rows: int) -> Iterator[str]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with open_file(path) as file:
            batches = parquet.ParquetFile(file, pre_buffer=False).iter_batches(_READ_ROWS, use_threads=False)
            found = (row for batch in batches for row in batch.to_pylist())
            yield from (msgspec.json.encode(row).decode() for row in islice(found, rows))
    except pa.ArrowException as error:
        yield f"(cannot be read: {error})"


ZSTD_LINES = FileFormat(".jsonl.zst", PLAIN.digest, _zstd_lines, PLAIN.of_content)
TABLE = FileFormat(".parquet", PLAIN.digest, _table_rows, PLAIN.of_content)
