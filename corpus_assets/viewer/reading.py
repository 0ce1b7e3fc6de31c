"""Reads a few rows of a stored file: by its index if it has one, else from the beginning up to a limit."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import IO, Any

import msgspec
import numpy as np

from resources.errors import LedgerError
from resources.formats.arrays import ARRAYS
from resources.formats.jsonl.compressions import ENDINGS, JSONL, open_rows
from resources.formats.jsonl.members import table_path
from resources.formats.known import format_of
from resources.ledger.records import FileRecord, Record
from resources.stage.partition import Partition, files_with
from resources.storage.interface import Storage

BLOCK_BYTES = 1 << 20
MOST_BYTES = 128 << 20
"""Most bytes that are decompressed to reach a row of a file without an index."""

MOST_JSON = 1 << 20


class TooFarError(LedgerError):
    """A row lies too far inside a file that can only be read from its beginning."""


def lines_at(partition: Partition, storage: Storage, file: FileRecord, start: int, count: int) -> list[bytes]:
    """Returns up to `count` lines of a file of rows from row `start` on; `TooFarError` if that reads too much."""
    total = file.rows or 0
    if partition.has(table_path(file.path)):
        stop = min(total, start + count)
        chosen = np.zeros(total, dtype=np.bool_)
        chosen[start:stop] = True
        found: list[bytes] = []
        for member, picked in partition.members(chosen, file.path):
            found += (line for line, wanted in zip(member.lines(), picked.tolist(), strict=True) if wanted)
        return found
    return list(islice(_from_beginning(storage, file, start), count))


def _from_beginning(storage: Storage, file: FileRecord, start: int) -> Iterator[bytes]:
    """Yields lines from row `start` on; `TooFarError` when more than `MOST_BYTES` have been read."""
    with storage.open(file.path) as raw, open_rows(raw, file.path) as content:
        left, rest, room = start, b"", MOST_BYTES
        while left:
            block = content.read(BLOCK_BYTES)
            room -= len(block)
            if not block or room < 0:
                raise _too_far(file, start)
            count = block.count(b"\n")
            rest = block if count < left else _after(block, left)
            left -= min(left, count)
        # A line that is cut by the end of a block belongs to the rows that are left out, unless none is left.
        while line := _line(rest, content, room):
            room -= len(line)
            if room < 0:
                raise _too_far(file, start)
            rest = rest[len(line) :]
            yield line


def _after(block: bytes, count: int) -> bytes:
    """Returns what follows the line feed of a number."""
    place = -1
    for _ in range(count):
        place = block.index(b"\n", place + 1)
    return block[place + 1 :]


def _line(rest: bytes, content: IO[bytes], room: int) -> bytes:
    """Returns the next line, which may begin in what was read already."""
    end = rest.find(b"\n") + 1
    return rest[:end] if end else rest + content.readline(max(1, room))


def _too_far(file: FileRecord, start: int) -> TooFarError:
    return TooFarError(
        f"{file.path}: row {start:,} lies more than {MOST_BYTES >> 20} MB inside, and the file has no index; "
        "`corpus show` reads it from a terminal"
    )


def array_rows(partition: Partition, file: FileRecord, start: int, count: int) -> tuple[str, list[str]]:
    """Returns the type of an array in words, and some rows of it."""
    (described,) = islice(ARRAYS.preview(_opener(partition, file), file.path, 0), 1)
    total = _rows_of(described)
    found = partition.array_rows(file.path, min(start, total), min(total, start + count))
    return described, [shown(row) for row in found]


def _opener(partition: Partition, file: FileRecord) -> Any:
    return lambda _path: partition.open(file.path)


def _rows_of(described: str) -> int:
    first = described.rpartition("(")[2].partition(",")[0].rstrip(")")
    return int(first) if first else 1


def shown(value: Any) -> str:
    """Returns a row of an array as a person reads it: digests, which are vectors of bytes, as hex digits."""
    if isinstance(value, np.void) and value.dtype.names:
        return ", ".join(f"{name} {shown(value[name])}" for name in value.dtype.names)
    if isinstance(value, np.ndarray) and value.dtype == np.uint8:
        return value[:64].tobytes().hex()
    if isinstance(value, np.ndarray):
        return " ".join(str(one) for one in value.ravel()[:64].tolist())
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def first_rows(storage: Storage, file: FileRecord, count: int) -> list[str]:
    """Returns the first rows of any other file, as `corpus show` prints them."""
    if file.path.endswith(".json"):
        return [json_text(storage, file)]
    with suppress(UnicodeDecodeError):
        return list(format_of(file.path).preview(storage.open, file.path, count))
    return ["(no text)"]


def json_text(storage: Storage, file: FileRecord) -> str:
    """Returns a JSON file, indented; of a large one only its size."""
    if file.bytes > MOST_JSON:
        return f"{file.bytes:,} bytes of JSON, too many for a page"
    with storage.open(file.path) as stored:
        content = stored.read(MOST_JSON)
    try:
        return msgspec.json.format(content, indent=2).decode()
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "(no JSON)"


def is_lines(record: Record, file: FileRecord) -> bool:
    """Returns whether a file of a partition holds JSON lines that can be read row by row."""
    return file.path.endswith(ENDINGS) and file in files_with(record, JSONL)


def lines_file(record: Record) -> FileRecord | None:
    """Returns the file with the rows of a partition; None if it has none of JSON lines."""
    return next((file for file in record.files if is_lines(record, file) and not file.derived), None)


def is_array(file: FileRecord) -> bool:
    """Returns whether a file is an array of this store."""
    return format_of(file.path) is ARRAYS
