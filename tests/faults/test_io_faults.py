"""One call of the system fails in a build: each message says which file or folder it was, and what was being done."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from resources.system_errors import advice, at, error_words, new_placed, open_placed
from tests.build.small import prose, write_small
from tests.faults.command import MAIN

SOURCE = Path(__file__).with_name("io_fault.c")
CHANGES = {
    "engine.workers": 1,
    "storage.sync": True,
    "attributes": [{"name": "pii", "taggers": ["pii_regex_with_counts_fast_v2"]}],
    "dedupers": [{"name": "lines", "by": "paragraphs"}],
    "benchmarks": [{"name": "exam", "location": "exam"}],
    "on_contamination": "remove_document",
    "filter": {"min_text_length": 20},
    "remove": {"location": "gone.txt"},
    "datasets": [
        {"name": "train", "sequence_length": 64},
        {"name": "mixed", "sequence_length": 48, "shuffle": True},
        {"name": "mds", "format": "mds", "sequence_length": 32},
        {"name": "amber", "format": "amber", "window": 33, "chunks": 2},
    ],
}
STORE, RAW = "corpus", "raw"
PLACES = [
    *((call, 60, STORE) for call in ("create", "write", "rename", "fsync", "open", "read")),
    ("readdir", 20, STORE),
    ("flock", 1, STORE),
    *((call, 1, RAW) for call in ("read", "opendir")),
]
DOING = {"write": "writing", "fsync": "syncing", "rename": "renaming", "readdir": "listing"}
"""What is said of calls for which Python itself names no file."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes one call fail."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("the library that makes calls fail needs a C compiler and Linux")
    made = tmp_path_factory.mktemp("library") / "io_fault.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(made), str(SOURCE), "-ldl"], check=True)
    return made


def corpus_in(folder: Path) -> Path:
    write_small(folder, CHANGES)
    (folder / "exam").mkdir()
    (folder / "exam/items.jsonl").write_text(json.dumps({"id": "a", "text": prose("books/one", 40)}) + "\n")
    (folder / "gone.txt").write_text("books-ne.json-3\n")
    return folder


def faulty(
    library: Path, folder: Path, call: str, number: int, under: str, error: int = errno.EIO
) -> tuple[int, str, str]:
    """Builds with the n-th call of a kind failing; returns the exit code, what was said, and the path of the call."""
    count, log = folder.parent / "count", folder.parent / "log"
    count.write_bytes(bytes(8))
    log.write_bytes(b"")
    given = {
        "LD_PRELOAD": library,
        "FAULT_CALL": call,
        "FAULT_AT": number,
        "FAULT_UNDER": folder / under,
        "FAULT_ERRNO": error,
        "FAULT_COUNT": count,
        "FAULT_LOG": log,
        "PYTHONPATH": Path(__file__).resolve().parents[2],
    }
    kept = {key: value for key, value in os.environ.items() if key not in ("DAGSTER_HOME", "CORPUS_CONFIG")}
    built = subprocess.run(
        [sys.executable, "-c", MAIN, "build", "--quiet"],
        cwd=folder,
        env=kept | {key: str(value) for key, value in given.items()},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return built.returncode, built.stdout + built.stderr, log.read_text()


@pytest.mark.slow
@pytest.mark.parametrize(("call", "number", "under"), PLACES)
def test_every_fault_has_its_place(library: Path, tmp_path: Path, call: str, number: int, under: str) -> None:
    folder = corpus_in(tmp_path / "corpus")
    code, said, path = faulty(library, folder, call, number, under)
    assert path, "no call of this kind failed"
    assert "Traceback" not in said
    if code == 0:  # It was of something that a build does without, or tries again.
        return
    lines = [line for line in said.splitlines() if "Input/output error" in line]
    assert lines, said
    for line in lines:
        assert "[Errno" not in line
        assert f"while {DOING[call]}" in line if call in DOING and under == STORE else True
        assert f"{folder}/" in line or any(f"{source}/" in line for source in ("books", "web", "notes", "exam")), line


def test_what_is_said_of_a_stream_is_its_place(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full, new_placed(tmp_path / "a", "store/b") as file:
        os.dup2(full.fileno(), file.fileno())
        with pytest.raises(OSError, match="No space left on device while writing") as found:
            file.write(b"1" * 100_000)
    assert found.value.filename == "store/b"
    with pytest.raises(FileNotFoundError) as absent:
        open_placed(tmp_path / "none")
    assert error_words(absent.value) == f"{tmp_path / 'none'}: No such file or directory while opening"
    with pytest.raises(OSError, match="damaged") as damaged, at("reading", "a"):
        raise OSError("damaged content")  # of a library, without a number
    assert error_words(damaged.value) == "damaged content"


@pytest.mark.parametrize(
    ("blocks", "inodes", "said"),
    [
        (0, 9, "free space"),
        (9, 0, "no inodes are left"),
        (0, 0, "free space"),
        (9, 9, "free space"),
        (999, 9, "only 9 inodes are left"),
    ],
)
def test_no_inodes_are_told_from_no_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocks: int, inodes: int, said: str
) -> None:
    found = os.statvfs(tmp_path)
    values = [*found[:4], blocks, *found[5:7], inodes, *found[8:]]
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(values))
    words = advice(OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "a")), str(tmp_path))
    assert said in words and str(tmp_path) in words
    assert ("inodes are left" in words) == ("inodes are left" in said)
    assert advice(OSError(errno.EIO, "Input/output error"), str(tmp_path)) == ""
