"""A small sound file in every format of raw files, for tests."""

import gzip
import io
import json
import tarfile
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from tests.raw.packings import PACK
from tests.raw.warc_files import conversion, record, response

LIST = "a.list"
ROWS: list[dict[str, Any]] = [
    {"id": f"r{number}", "text": f"Row {number} of naïve words, and a few more.", "metadata": {"n": number, "s": "x"}}
    for number in range(4)
]
COLUMNS: dict[str, Any] = {
    "id": [row["id"] for row in ROWS],
    "text": [row["text"] for row in ROWS],
    "kind": pa.array(["a", "b", "a", None]).dictionary_encode(),
    "tags": [["x"], [], None, ["y", "z"]],
    "at": pa.array([0, 1, 2, None], pa.timestamp("us", "UTC")),
    "amount": pa.array([1, 2, 3, 4]).cast(pa.decimal128(38, 2)),
}


@cache
def every_format() -> dict[str, bytes]:
    """Sound files by a name that has the suffix of their format; `LIST` names texts."""
    lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    comma = "id,text,note\n" + "".join(f'{row["id"]},"{row["text"]}",a\n' for row in ROWS)
    tab = comma.replace('"', "").replace(", and", " and").replace(",", "\t")
    wet = b"".join(conversion(row["text"], f"https://example.org/{row['id']}") for row in ROWS)
    pages = record("warcinfo", b"a: b\r\n") + response(b"A text of a page.")
    pages += response(gzip.compress(b"Text"), Content_Encoding="gzip")
    pages += response(b"5\r\nSome \r\n4\r\ntext\r\n0\r\n\r\n", Transfer_Encoding="chunked")
    plain = {
        "jsonl": lines,
        "csv": comma.encode(),
        "tsv": tab.encode(),
        "warc": pages,
        "warc.wet": wet,
        "txt": "A text with naïve words.\n".encode(),
    }
    return {
        **{f"a.{kind}": content for kind, content in plain.items()},
        **{f"a.{kind}.{end}": pack(content) for kind, content in plain.items() for end, pack in PACK.items()},
        "a.json.gz": gzip.compress(lines, mtime=0),
        "a.jsonl.zst.tar": archive({f"{n}.jsonl.zst": zstandard.compress(lines) for n in range(2)}),
        "a.parquet": table(),
        "a.arrow": arrow_of(COLUMNS, as_file=True),
        "a.feather": arrow_of(COLUMNS, as_file=True, compression="zstd"),
        "b.arrow": arrow_of(COLUMNS, as_file=False, compression="lz4"),
        LIST: b"one.txt\ntwo/three.txt\n",
    }


def archive(members: dict[str, bytes]) -> bytes:
    """A tar of files by name."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def table() -> bytes:
    """A parquet file with texts, a dictionary, a list and times."""
    out = io.BytesIO()
    pq.write_table(pa.table(COLUMNS), out, compression="zstd")
    return out.getvalue()


def arrow_of(columns: dict[str, Any], *, as_file: bool, compression: str | None = None, rows: int = 3) -> bytes:
    """An Arrow file or stream, in batches of up to `rows` rows."""
    out, content = io.BytesIO(), pa.table(columns)
    options = pa.ipc.IpcWriteOptions(compression=compression)
    new = pa.ipc.new_file if as_file else pa.ipc.new_stream
    with new(out, content.schema, options=options) as writer:
        writer.write_table(content, max_chunksize=rows)
    return out.getvalue()
