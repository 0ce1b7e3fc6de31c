"""One builder at a time, renames, faults of the machine, damaged files and records."""

import errno
import os
import random
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from unittest.mock import Mock

import msgspec
import pytest

from corpus_assets.config.reading.loading import parse_config
from corpus_assets.corpus.step import Step
from corpus_assets.verification.verify import verify
from resources import system_errors
from resources.errors import BadFileError, ConfigError, StorageError, file_fault
from resources.formats.segments import SegmentWriter, segment_lines
from resources.ledger.ledger import Record, encode_record, record_path
from resources.raw_places import local
from resources.stage.partition import Partition
from resources.storage.holders import this_process
from resources.storage.leases import Held
from resources.storage.local.store import LocalStorage
from tests.build.small import Work, drive, opened

HOLD = """
import sys
from pathlib import Path
from resources.storage.local.store import LocalStorage
with LocalStorage(Path(sys.argv[1])).exclusive():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held_elsewhere(work: Work) -> Iterator[None]:
    """Another process builds on the store of `work`."""
    command = [sys.executable, "-c", HOLD, str(Path(opened(work.folder).storage.place))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield
        process.kill()


def test_a_second_builder_is_refused_by_name(work: Work, held_elsewhere: None) -> None:
    work.config(split__seed=9)
    with pytest.raises(StorageError, match=r"process \d+ on .* is building on this store"):
        drive(opened(work.folder))


def test_a_killed_builder_leaves_no_lock(work: Work) -> None:
    root = Path(opened(work.folder).storage.place)
    command = [sys.executable, "-c", HOLD, str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
    with LocalStorage(root).exclusive(), LocalStorage(root).exclusive():
        assert not drive(opened(work.folder)).failed


def test_a_lease_whose_file_cannot_be_looked_at_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, mine = LocalStorage(tmp_path), this_process()
    with monkeypatch.context() as fault:
        fault.setattr(os, "fstat", Mock(side_effect=OSError(errno.EIO, "Input/output error")))
        with pytest.raises(OSError, match="Input/output error while locking"):
            store.lease("a", mine)
    lease = store.lease("a", mine)
    assert not isinstance(lease, Held)
    lease.release()


def test_a_file_that_cannot_be_looked_at_counts_as_neither_there_nor_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpublished = LocalStorage(tmp_path).begin()
    assert not unpublished.replaced("a")
    monkeypatch.setattr(Path, "lstat", Mock(side_effect=OSError(errno.EIO, "Input/output error")))
    with pytest.raises(OSError, match="Input/output error while looking at"):
        unpublished.replaced("a")


def test_a_raw_file_renamed_to_another_format_is_read_anew(work: Work) -> None:
    file = work.folder / "raw/books/one.jsonl"
    file.rename(file.with_suffix(".txt"))
    status, reason = work.plan()["raw_source", "books--one"]
    assert (status, reason) == ("stale", "raw shard books/one.txt was renamed")
    built = drive(opened(work.folder))
    assert "books--one" in built.of("normalized_documents")
    record = opened(work.folder).ledger.read("normalized_documents", "books--one")
    assert record is not None and record.files[0].rows == 1


def test_a_fault_of_the_machine_never_counts_as_a_bad_file() -> None:
    assert isinstance(file_fault("a", OSError(errno.ENOENT, "no such file")), BadFileError)
    assert isinstance(file_fault("a", OSError("damaged")), BadFileError)
    for number in (errno.EMFILE, errno.EIO, errno.ENOMEM):
        assert isinstance(file_fault("a", OSError(number, "now")), StorageError)


def test_too_many_open_files_fails_a_shard_that_may_be_skipped_when_bad(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive(opened(work.folder), [opened(work.folder).graph["raw_source"]])
    work.config(**{"sources.0.on_bad_file": "skip", "normalize.method": "none"})
    opening = system_errors.open_placed

    def refuse(path: Path) -> BinaryIO:
        if path.name == "one.jsonl":
            raise OSError(errno.EMFILE, "Too many open files")
        return opening(path)

    monkeypatch.setattr(local, "open_placed", refuse)
    built = drive(opened(work.folder), [opened(work.folder).graph["normalized_documents"]])
    assert [line for line in built.failed if "books--one" in line and "cannot be read now" in line]


def test_a_text_list_with_impossible_paths_fails_its_own_shard(work: Work) -> None:
    folder = work.folder / "raw/lists"
    folder.mkdir()
    for name, path in (("nul", "a\0b.txt"), ("up", "../../../etc/passwd.txt"), ("none", "gone.txt")):
        (folder / f"{name}.txt").write_text(f"{path}\n")
    work.config(**{"sources.0.location": "raw/lists", "sources.0.format": "txt_list"})
    problems = {shard.name: shard.problem for shard in opened(work.folder).listing().shards if shard.source == "books"}
    assert {name: bool(problem) for name, problem in problems.items()} == {"nul": True, "up": True, "none": True}


def test_a_damaged_record_is_named_as_the_reason(work: Work) -> None:
    path = Path(opened(work.folder).storage.fetch(record_path("minhashes", "books--one")))
    path.write_bytes(b"{")
    assert work.plan()["minhashes", "books--one"] == ("missing", "commit record damaged")


def test_deep_verification_survives_any_flipped_bit(work: Work) -> None:
    chance = random.Random(3)
    corpus = opened(work.folder)
    files = [path for path in Path(corpus.storage.place).rglob("*") if path.suffix in {".h5", ".npy", ".gz", ".zst"}]
    chosen = chance.sample(sorted(files), 25)
    for path in chosen:
        raw = bytearray(path.read_bytes())
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        path.write_bytes(raw)
    assert verify(corpus, deep=True).checked > len(chosen)


def test_a_thousand_segments_cost_little_memory(tmp_path: Path) -> None:
    names = [f"chunk-{number:04d}" for number in range(1000)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with (tmp_path / "file").open("w+b") as file, (tmp_path / "scratch").open("w+b") as scratch:
        writer = SegmentWriter(file, scratch, names)
        line = bytes(chance % 95 + 32 for chance in range(8000)) + b"\n"
        for _ in range(5):
            for name in names:
                writer.write(name, line)
        writer.finish()
        segment = writer.index[names[500]]
        file.seek(segment.offset)
        assert list(segment_lines(file.read(segment.length), segment)) == [line] * 5
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) < 128 * 1024


CHAIN = ("inventory", "raw_source", "normalized_documents", "short_documents", "minhashes")


def test_a_band_needs_few_open_files(work: Work) -> None:
    """Shards are mapped one at a time: a corpus has more of them than a process may open files."""
    for number in range(40):
        shutil.copy(work.folder / "raw/books/one.jsonl", work.folder / f"raw/books/copy{number:02d}.jsonl")
    corpus = opened(work.folder)
    for name in (*CHAIN, "band_keys", "exact_duplicates"):
        assert Step(corpus, corpus.graph[name]).run() is not None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 20, hard))
    try:
        outcomes = Step(corpus, corpus.graph["duplicate_pairs"]).run()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert outcomes and not [outcome.error for outcome in outcomes if outcome.error]
    assert isinstance(
        Partition(corpus.storage, corpus.ledger.records("duplicate_pairs")["band-00"]).array(".npy").shape, tuple
    )


def test_a_folder_named_like_an_output_is_in_nobodys_way(work: Work) -> None:
    inner = work.folder / "raw/books/one.jsonl.gz"
    inner.mkdir()
    shutil.copy(work.folder / "raw/books/one.jsonl", inner / "x.jsonl")
    assert not drive(opened(work.folder)).failed


def test_datasets_that_dagster_could_not_tell_apart_are_refused() -> None:
    datasets = [{"name": "a-b"}, {"name": "a_b"}]
    with pytest.raises(ConfigError, match="differ by"):
        parse_config({"sources": [{"name": "s", "location": "raw"}], "datasets": datasets})


def test_changed_counters_in_a_record_are_found(work: Work) -> None:
    corpus = opened(work.folder)
    path = Path(corpus.storage.fetch(record_path("train_tokens", "chunk-0000")))
    assert verify(corpus, deep=True).bad == []
    changed = re.sub(r'"num_tokens": \d+', '"num_tokens": 1', path.read_text())
    path.write_text(changed)
    (problem,) = verify(opened(work.folder), deep=True).bad
    assert problem.problem == "damaged record: its check does not match"
    record = msgspec.json.decode(changed, type=Record)
    path.write_bytes(encode_record(record))
    (rows, counters) = verify(opened(work.folder), deep=True).bad
    assert "counters 'counters' have digest" in counters.problem
    assert "counters 'h5_dataset_stats' have digest" in rows.problem
    assert verify(opened(work.folder), deep=False).bad == []
