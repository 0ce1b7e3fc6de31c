import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.raw.readers import BadRow, RawFile, RowRules, read_documents
from resources.errors import BadFileError
from resources.formats.documents import Document, decode_document, encode_document
from tests.golden import SHARED, shared

HOSTILE = ("data", "hostile")
LISTING = SHARED.joinpath(*HOSTILE, "expect.json")
EXPECT: dict[str, Any] = json.loads(LISTING.read_bytes()) if LISTING.exists() else {}

# Of the behaviours called sane in expect.json, the ones chosen here.
REFUSED = {
    "unknown.xyz": "unknown file type; give its source a `format`; valid: jsonl",
    "pretty_printed.json.gz": "one JSON value over several lines",
    "zst_window_too_large.jsonl.zst": "zstd window is over the limit of 134217728 bytes",
    "bomb.jsonl.zst": "decompresses to more than the 67108864 bytes",
}
CHOSEN = {  # good rows, lines of bad rows
    "id_types.jsonl": (2, [2, 3, 4, 5]),
    "id_duplicate.jsonl": (4, []),
    "metadata_types.jsonl": (4, []),
    "huge_ints.jsonl": (1, [1]),
    "nan_inf.jsonl": (0, [1, 2]),
    "tar_traversal.jsonl.zst.tar": (8, []),
    "tar_symlink.jsonl.zst.tar": (4, []),
    "tar_mixed_members.jsonl.zst.tar": (4, []),
    "tar_duplicate_names.jsonl.zst.tar": (8, []),
    "UPPER.JSONL.GZ": (3, []),
    ".hidden.jsonl": (2, []),
}
SKIPPED_MEMBERS = {"tar_symlink.jsonl.zst.tar": 1, "tar_mixed_members.jsonl.zst.tar": 2}
DETAILS = {  # what the message of a bad file has to say
    "tar_bad_member.jsonl.zst.tar": "member b.jsonl.zst: zstd stream is cut or corrupt",
    "really_plain.jsonl.gz": "jsonl.gz promises gzip bytes, but the content is plain",
    "really_gzip.jsonl": "jsonl promises plain bytes, but the content is gzip",
    "really_zstd.jsonl.gz": "jsonl.gz promises gzip bytes, but the content is zstd",
    "parquet_missing_column.parquet": "no column 'text'; columns: idea",
    "parquet_int_text.parquet": "int64",
    "parquet_nested.parquet": "list",
    "utf16.jsonl": "UTF-16",
    "latin1.txt": "no UTF-8: byte 0xe9",
}


def read(path: Path, name: str) -> tuple[list[Document], list[BadRow]]:
    good, bad = [], []
    for row in read_documents(RawFile(name, lambda: path.open("rb")), RowRules("hostile")):
        if isinstance(row, BadRow):
            bad.append(row)
        else:
            good.append(row)
    return good, bad


@pytest.mark.parametrize("entry", EXPECT.get("files", []), ids=lambda entry: str(entry["file"])[:40])
def test_every_hostile_file(entry: dict[str, Any]) -> None:
    name = entry["file"]
    path = shared(*HOSTILE, name)
    if entry["expect"] == "fail_file" or name in REFUSED:
        with pytest.raises(BadFileError) as refused:
            read(path, name)
        assert refused.value.where.startswith(name)
        assert REFUSED.get(name, DETAILS.get(name, "")) in str(refused.value)
        return
    good, bad = read(path, name)
    assert all(decode_document(encode_document(document)) == document for document in good)
    assert len([row for row in bad if row.reason == "skipped_member"]) == SKIPPED_MEMBERS.get(name, 0)
    bad = [row for row in bad if row.reason != "skipped_member"]
    lines = [int(row.where.rpartition(" ")[2]) for row in bad]
    if name in CHOSEN:
        assert (len(good), lines) == CHOSEN[name]
        assert set(lines) <= set(entry.get("bad_lines", lines))
    else:
        assert (len(good), len(bad)) == (entry["good_rows"], entry["bad_rows"])
        assert lines == entry.get("bad_lines", lines)
    assert all(row.where.startswith(name) and row.reason and row.detail for row in bad)


def test_texts_of_odd_files() -> None:
    def texts(name: str) -> list[str]:
        return [document.text for document in read(shared(*HOSTILE, name), name)[0]]

    assert texts("key_duplicate.jsonl") == ["second value second value"]
    assert not any("\r" in text for text in texts("crlf.jsonl"))
    assert all("\u2028" in text or "\x85" in text for text in texts("line_separators.jsonl")[:1])
    assert "before\0after" in texts("nul_bytes.jsonl")[0]
    first, second = texts("nfd_and_nfc.jsonl")
    assert first != second
    assert texts("lone_surrogate.jsonl") == ["pair \U0001f600 fine"]


def test_memory_of_a_line_of_64_mib() -> None:
    path = shared(*HOSTILE, "one_line_64MB.jsonl.gz")
    longest = 0
    tracemalloc.start()
    try:
        for row in read_documents(RawFile("big", lambda: path.open("rb")), RowRules("s", format="jsonl.gz")):
            assert isinstance(row, Document)
            longest = max(longest, len(row.text))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert longest > 60_000_000
    assert peak < 4 * longest


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    script = shared("tools", "make_hostile_fs.py")
    subprocess.run([sys.executable, str(script), str(folder)], check=True, stderr=subprocess.DEVNULL)
    return folder


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("newline_name", "new\nline.jsonl"),
        ("symlink_loop", "a.jsonl"),
        ("invalid_name_bytes", os.fsdecode(b"bad\xff.jsonl")),
    ],
)
def test_odd_file_names_are_read(made: Path, kind: str, name: str) -> None:
    path = made / kind / name
    if not path.exists():
        pytest.skip("this file system cannot hold the name")
    good, bad = read(path, name)
    assert (len(good), bad) == (1, [])


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("dir_named_like_file", "folder.jsonl"),
        ("dangling_symlink", "dangling.jsonl"),
        ("unreadable", "unreadable.jsonl"),
    ],
)
def test_what_cannot_be_opened_is_a_bad_file(made: Path, kind: str, name: str) -> None:
    path = made / kind / name
    if kind == "unreadable" and os.access(path, os.R_OK):
        pytest.skip("this user may read every file")
    with pytest.raises(BadFileError, match="cannot be read") as refused:
        read(path, name)
    assert refused.value.where == name
