"""Builds on machines whose clock, file times or file systems are odd: what is right stays, and what is not is said."""

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from corpus_assets.verification.verify import verify
from tests.build.small import Work, digests, opened, write_small
from tests.faults.command import MAIN, last_json
from tests.faults.preloaded import compiled, with_mounts

TOP = Path(__file__).resolve().parents[2]
DAY = 24 * 60 * 60
BUILD = ("--no-checks", "--json")
FILE, SHARD = "books/one.jsonl", "books--one"
EDIT = f"sed -i s/ba/be/g raw/{FILE}"
CORPUS = f'corpus() {{ "{sys.executable}" -c "{MAIN}" "$@"; }}\n'
"""The command in a shell script."""

LOOKS_AT_PAGES = """
from pathlib import Path
from starlette.testclient import TestClient
from corpus_assets.viewer.app import standing_alone
pages = TestClient(standing_alone(Path("corpus.yaml"), "127.0.0.1"), base_url="http://127.0.0.1:3001")
looked_at = ("assets/normalized_documents", "assets/train_tokens", "documents/duplicates/books--two")
print(*(pages.get(f"/corpus/{path}").status_code for path in looked_at))
"""


@pytest.fixture(scope="module")
def odd_machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("odd_machine", tmp_path_factory.mktemp("odd_machine"))


@pytest.fixture(scope="module")
def io_fault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("io_fault", tmp_path_factory.mktemp("io_fault"))


def ran(folder: Path, command: list[str], more: Mapping[str, object]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command in a folder."""
    kept = {key: value for key, value in os.environ.items() if key not in ("DAGSTER_HOME", "CORPUS_CONFIG")}
    given = {"PYTHONPATH": TOP, **more}
    done = subprocess.run(
        command,
        cwd=folder,
        env=kept | {key: str(value) for key, value in given.items()},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def corpus(folder: Path, *arguments: str, **more: object) -> tuple[int, str, str]:
    return ran(folder, [sys.executable, "-c", MAIN, *arguments], more)


def in_a_shell(folder: Path, script: str) -> tuple[str, str]:
    """Runs a script that may mount, and call `corpus`; returns what it wrote to both streams."""
    code, out, err = ran(folder, with_mounts(CORPUS + script), {})
    assert code == 0, out + err
    return out, err


def edited(folder: Path) -> None:
    """Changes a raw file where it lies, and not its size."""
    file = folder / "raw" / FILE
    content = file.read_bytes()
    changed = content.replace(b"ba", b"be")
    assert changed != content
    with file.open("r+b") as there:
        there.write(changed)


def assert_fresh_and_right(folder: Path) -> None:
    """Nothing is to be computed, every byte is right, and the content is that of a build from nothing."""
    work = Work(folder)
    assert not work.plan()
    found = opened(folder)
    assert verify(found, deep=True).bad == []
    assert digests(found) == digests(work.from_nothing())


def test_a_clock_that_is_set_back_makes_nothing_stale_or_fresh(odd_machine: Path, tmp_path: Path) -> None:
    folder, clock = write_small(tmp_path / "corpus"), {"LD_PRELOAD": odd_machine, "CLOCK_BACK": DAY}
    code, out, err = corpus(folder, "build", *BUILD, **clock, CLOCK_AFTER=60)
    assert code == 0, out + err
    assert_fresh_and_right(folder)
    edited(folder)
    file = folder / "raw" / FILE
    os.utime(file, (time.time() - DAY, time.time() - DAY))  # As on a machine that is a day behind.
    assert ("raw_source", SHARD) in Work(folder).plan()
    code, out, err = corpus(folder, "build", *BUILD, **clock, CLOCK_AFTER=0)
    assert code == 0, out + err
    days = {log.name[:10] for log in folder.rglob("*.log")}
    assert len(days) == 2, "the clock was set back"
    assert_fresh_and_right(folder)


def test_files_that_change_without_new_times_are_read_again(odd_machine: Path, tmp_path: Path) -> None:
    """All happens in one second, and the file system keeps nothing smaller."""
    folder = write_small(tmp_path / "corpus")
    second = {"LD_PRELOAD": odd_machine, "TIMES_FROM": int(time.time()), "TIMES_UNDER": folder}
    code, out, err = corpus(folder, "build", *BUILD, **second)
    assert code == 0, out + err
    edited(folder)
    code, out, _ = corpus(folder, "plan", "--json", **second)
    (stale,) = [one for one in last_json(out)["partitions"] if one["status"] == "stale"]
    assert (code, stale["asset"], stale["reason"]) == (3, "raw_source", f"raw shard {FILE} changed")
    code, out, err = corpus(folder, "build", *BUILD, **second)
    assert code == 0, out + err
    assert corpus(folder, "plan", "--check", **second)[0] == 0
    assert_fresh_and_right(folder)


def test_a_file_system_that_does_not_sync_is_named_before_anything_is_computed(io_fault: Path, tmp_path: Path) -> None:
    folder = write_small(tmp_path / "corpus", {"storage.sync": True})
    (tmp_path / "count").write_bytes(bytes(8))
    refuses = {
        "LD_PRELOAD": io_fault,
        "FAULT_CALL": "fsync",
        "FAULT_AT": 0,
        "FAULT_UNDER": folder,
        "FAULT_ERRNO": errno.EINVAL,
        "FAULT_COUNT": tmp_path / "count",
        "FAULT_LOG": tmp_path / "log",
    }
    code, _, err = corpus(folder, "build", *BUILD, **refuses)
    said = " ".join(err.split())
    assert code == 1 and "Traceback" not in err
    assert f"{folder}: this file system does not sync ({os.strerror(errno.EINVAL)})" in said
    assert "set storage.sync: false" in said
    assert not opened(folder).ledger.assets()
    write_small(folder)
    code, out, err = corpus(folder, "build", *BUILD, **refuses | {"FAULT_UNDER": folder / "corpus"})
    assert code == 0, out + err
    assert_fresh_and_right(folder)


def test_a_file_system_without_inodes_costs_nothing_that_was_there(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "corpus")
    (folder / "corpus").mkdir()
    out, err = in_a_shell(
        folder,
        f"""
        mount -t tmpfs -o nr_inodes=60,size=64m none corpus
        ! corpus build {" ".join(BUILD)}
        mount -o remount,nr_inodes=100000 corpus
        corpus build {" ".join(BUILD)}
        cp -a corpus kept
        """,
    )
    assert f"inodes are left on the file system of {folder / 'corpus'}" in " ".join(err.split())
    failed, whole = map(json.loads, out.splitlines())
    assert failed["recomputed"] and failed["failed"]
    assert whole["fresh"] == failed["recomputed"]
    (folder / "corpus").rmdir()
    (folder / "kept").rename(folder / "corpus")
    assert_fresh_and_right(folder)


def test_a_store_that_cannot_be_written_is_looked_at_and_not_built(work: Work) -> None:
    (work.folder / "look.py").write_text(LOOKS_AT_PAGES)
    out, err = in_a_shell(
        work.folder,
        f"""
        mount --bind corpus corpus
        mount -o remount,ro,bind corpus
        corpus plan --check
        corpus verify --deep
        {EDIT}
        ! corpus build {" ".join(BUILD)}
        "{sys.executable}" look.py
        """,
    )
    assert "fresh, 0 missing, 0 stale, 0 waiting" in out and "0 bad" in out and out.splitlines()[-1] == "200 200 200"
    sentence = "cannot be written: Read-only file system; make it writable, or set storage.root"
    assert " ".join(err.split()) == f"storage.root: {work.folder / 'corpus'} {sentence}"
    assert ("raw_source", SHARD) in work.plan()
