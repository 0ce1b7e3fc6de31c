"""Small files that unpack, nest or declare far more than they may, through a whole build: each costs itself alone."""

import bz2
import gzip
import json
import lzma
import struct
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from benchmarks import process_tree
from corpus_assets.orchestration.freshness.failures import failures
from tests.build.small import opened, prose, write_raw
from tests.house import TOP
from tests.raw.warc_files import conversion, record, response
from tests.token_files.writing import changed, ragged

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]

BUILD = """
from corpus_assets.cli.main import main
try:
    main()
except SystemExit as end:
    print("ended with", end.code)
"""
MEMORY = 1 << 30
UNPACKED, PIECE = 512 << 20, 4 << 20
DEEP = 1_000_000
ROW = 2 << 20
"""`longest_row` of the source of tables and pages."""


def repeated(pack: Callable[[bytes], bytes], begin: bytes = b"", size: int = UNPACKED) -> bytes:
    """A file of many members, all but the first of which are equal."""
    return pack(begin) + pack(b"0" * PIECE) * (size // PIECE)


def parquet(path: Path, columns: Mapping[str, Any], **how: Any) -> None:
    pq.write_table(pa.table(columns), path, compression="zstd", **how)


def write_files(folder: Path) -> None:
    """Writes bombs, and good files beside them."""
    files = {
        "packed/gzip.jsonl.gz": repeated(gzip.compress, b'{"text": "'),
        "packed/zstd.jsonl.zst": repeated(zstandard.compress, b'{"text": "'),
        "packed/xz.jsonl.xz": repeated(lzma.compress, b'{"text": "'),
        "packed/bzip2.jsonl.bz2": repeated(bz2.compress, b'{"text": "'),
        "packed/text.txt.gz": repeated(gzip.compress),
        "packed/deep.jsonl": b'{"text": "a", "metadata": ' + b"[" * DEEP + b"]" * DEEP + b"}\n",
        "packed/open.jsonl": b"[" * DEEP + b"\n",
        "pages/members.warc.gz": repeated(gzip.compress, record("conversion", b"", UNPACKED)[:-4]),
    }
    pages = {
        "chunked": response(b"ffffffff\r\n" + b"0" * ROW, Transfer_Encoding="chunked"),
        "chunks": response(b"1\r\n0\r\n" * ROW, Transfer_Encoding="chunked"),
        "packed": response(gzip.compress(gzip.compress(b"0" * 16 * ROW)), Content_Encoding="gzip, gzip"),
        "nested": response(b"<div>" * DEEP + b"text", kind="text/html"),
        "open": response(b"<i><b>" * DEEP + b"text", kind="text/html"),
    }
    for name, page in pages.items():
        files[f"pages/{name}.warc.gz"] = gzip.compress(page) + gzip.compress(conversion(prose(name)))
    for path, content in files.items():
        (folder / "raw" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "raw" / path).write_bytes(content)
    tables = folder / "raw/tables"
    tables.mkdir()
    parquet(tables / "page.parquet", {"text": ["0" * 8 * ROW]}, use_dictionary=False)
    parquet(tables / "values.parquet", {"text": ["a"], "list": [["0" * (ROW // 4)] * 40]})
    (folder / "ids").mkdir()
    ragged(folder / "ids", [[5, 6, 7, 0]] * 9, name="good")
    ragged(folder / "ids", [[5, 6, 7, 0]], name="huge")
    np.save(folder / "ids/huge.data.npy", np.arange(10_000, dtype="<u2"))
    changed(folder / "ids/huge.data.npy", 0, shaped(1 << 40))
    for source in ("packed", "pages", "tables"):
        write_raw(folder, f"{source}/good.jsonl", [{"id": str(n), "text": prose(f"{source} {n}")} for n in range(9)])


def shaped(count: int) -> bytes:
    """The header of a `.npy` file with so many numbers."""
    text = f"{{'descr': '<u2', 'fortran_order': False, 'shape': ({count},), }}".ljust(117) + "\n"
    return np.lib.format.magic(1, 0) + struct.pack("<H", len(text)) + text.encode()


def write_config(folder: Path) -> None:
    (folder / "pages.py").write_text("def text(page):\n    return page\n")
    kinds: dict[str, dict[str, Any]] = {
        "packed": {"longest_row": ROW},
        "pages": {"longest_row": 8 * ROW, "extractor": "pages:text"},
        "tables": {"longest_row": ROW},
    }
    ids = {"kind": "ids", "vocabulary": 300, "eos": 0}
    given = {"name": "given", "sequence_length": 8, "input": {"location": "ids", "format": "ragged"}, "tokenizer": ids}
    config = {
        "sources": [{"name": name, "location": f"raw/{name}"} | more for name, more in kinds.items()],
        "engine": {"workers": 2, "memory": MEMORY},
        "storage": {"sync": False},
        "tokenizer": {"kind": "train", "vocabulary": 300},
        "datasets": [given],
    }
    (folder / "corpus.yaml").write_text(json.dumps(config))


FAILED = {
    "packed--zstd": "packed/zstd.jsonl.zst: decompresses to more than the ",
    "packed--xz.jsonl.xz": "packed/xz.jsonl.xz: decompresses to more than the ",
    "packed--bzip2.jsonl.bz2": "packed/bzip2.jsonl.bz2: decompresses to more than the ",
    "packed--text.txt.gz": "packed/text.txt.gz: text file is over the limit of ",
    "tables--page": "tables/page.parquet: a page of 16777226 bytes, over the limit of ",
}
COUNTED = {
    "packed--gzip": "line_too_long",
    "packed--deep": "too_deep",
    "packed--open": "not_an_object",
    "pages--members": "record_too_long",
    "pages--chunked": "bad_chunks",
    "pages--chunks": "bad_chunks",
    "pages--packed": "too_large",
    "pages--nested": "html_too_deep",
    "pages--open": "html_too_deep",
    "tables--values": "line_too_long",
}


def test_a_bomb_costs_its_own_partition_or_row_in_bounded_memory(tmp_path: Path) -> None:
    write_files(tmp_path)
    write_config(tmp_path)
    command = [sys.executable, "-c", BUILD, "build", "--quiet", "--no-checks"]
    environment = {"PYTHONPATH": str(TOP), "DAGSTER_HOME": str(tmp_path / "home")}
    taken = process_tree.run(command, folder=tmp_path, environment=environment)
    assert taken.output.endswith("ended with 1\n")
    assert taken.peak_bytes < 1.1 * MEMORY
    corpus = opened(tmp_path)
    told = {key: one.error for key, one in failures(corpus.planner(), corpus.graph["normalized_documents"]).items()}
    assert told.keys() == FAILED.keys()
    assert {key: words for key, words in FAILED.items() if not str(told[key]).startswith(words)} == {}
    statistics = {key: record.statistics for key, record in corpus.ledger.records("normalized_documents").items()}
    dropped = {key: one["dropped"] for key, one in statistics.items() if "dropped" in one}
    assert dropped == {key: {reason: 1} for key, reason in COUNTED.items()}
    kept = {key: one["rows_out"] for key, one in statistics.items() if one["rows_out"]}
    beside = {f"pages--{name}": 1 for name in ("chunked", "chunks", "packed", "nested", "open")}
    assert kept == beside | {f"{source}--good": 9 for source in ("packed", "pages", "tables")}
    streams = failures(corpus.planner(), corpus.graph["given_token_stream"])
    assert {key: one.error for key, one in streams.items()} == {
        "given--huge": "given/huge.data.npy: has 20,000 bytes of numbers; its header says 1,099,511,627,776 uint16, "
        "which are 2,199,023,255,552"
    }
    assert corpus.ledger.records("given_token_stream").keys() == {"given--good"}
