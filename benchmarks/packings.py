"""The cost of reading compressed raw files: `python -m benchmarks.packings [--quick] [--json]`.

The same documents as JSON lines in every compression, as parquet (zstd) and as Arrow streams, read from memory to
documents. CPU-seconds over two sizes give MB (10^6 bytes) of text per CPU-second without the fixed cost. Compressions
take turns; the least of several rounds counts.
"""

import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.corpora import write_raw
from benchmarks.printed import printed
from corpus_assets.raw.readers import BadRow, RawFile, RowRules, read_documents
from resources.formats.documents import Document
from tests.raw.every_format import arrow_of
from tests.raw.packings import PACK

MEGABYTES, QUICK_MEGABYTES, ROUNDS = 32, 4, 3
BASE = "gz"


def _lines(documents: list[Document]) -> bytes:
    rows = ({"id": one.id, "text": one.text, "metadata": {"n": number}} for number, one in enumerate(documents))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _packed(pack: Callable[[bytes], bytes], documents: list[Document]) -> bytes:
    return pack(_lines(documents))


def _columns(documents: list[Document]) -> dict[str, Any]:
    return {"id": [one.id for one in documents], "text": [one.text for one in documents]}


def _parquet(documents: list[Document]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(_columns(documents)), out, compression="zstd")
    return out.getvalue()


WRITERS: dict[str, Callable[[list[Document]], bytes]] = {
    "plain": _lines,
    **{end: partial(_packed, pack) for end, pack in PACK.items()},
    "parquet": _parquet,
    "arrow": lambda documents: arrow_of(_columns(documents), as_file=False, rows=1000),
    "arrow lz4": lambda documents: arrow_of(_columns(documents), as_file=False, compression="lz4", rows=1000),
}
FORMATS = {"parquet": "parquet", "arrow": "arrow", "arrow lz4": "arrow"}


def measure(megabytes: int, rounds: int = ROUNDS) -> dict[str, Any]:
    """MB of text per CPU-second for each compression, and the same over that of gzip."""
    with tempfile.TemporaryDirectory() as folder:
        write_raw(Path(folder), megabytes)
        contents = [path.read_bytes() for path in sorted(Path(folder).rglob("*.jsonl.gz"))]
    documents = [row for content in contents for row in _read(content, "jsonl") if isinstance(row, Document)]
    small = documents[: len(documents) // 4]
    mb = [sum(len(one.text.encode()) for one in some) / 1e6 for some in (small, documents)]
    files = {name: [write(some) for some in (small, documents)] for name, write in WRITERS.items()}
    least = {name: [float("inf")] * 2 for name in files}
    for _ in range(rounds):
        for name, pair in files.items():
            for place, content in enumerate(pair):
                least[name][place] = min(least[name][place], _seconds(content, FORMATS.get(name, "jsonl")))
    rates = {name: (mb[1] - mb[0]) / (large - little) for name, (little, large) in least.items()}
    figures: dict[str, Any] = {"packings_text_mb": round(mb[1], 1)}
    for name, rate in rates.items():
        key = f"packings_{name.replace(' ', '_')}"
        figures |= {f"{key}_mb_per_cpu_s": round(rate, 1), f"{key}_ratio_to_gz": round(rate / rates[BASE], 2)}
    return figures


def _seconds(content: bytes, kind: str) -> float:
    started = time.process_time()
    for _ in _read(content, kind):
        pass
    return time.process_time() - started


def _read(content: bytes, kind: str) -> Iterator[Document | BadRow]:
    return read_documents(RawFile("a", lambda: io.BytesIO(content)), RowRules("benchmark", format=kind))


if __name__ == "__main__":
    printed(__doc__, lambda quick: measure(QUICK_MEGABYTES, 1) if quick else measure(MEGABYTES))
