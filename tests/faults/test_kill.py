"""`kill -9` of a build at any moment: what is committed is whole, and the next build finishes the rest."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from corpus_assets.verify import verify
from resources.storage import TEMPORARY
from tests.build.small import contents, digests, drive, live_records, opened, write_small
from tests.faults.command import last_json, run, start

KILLS = 20


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float, float]:
    """A finished build, with the seconds until its first commit and until its end."""
    folder = write_small(tmp_path_factory.mktemp("undisturbed"), {"engine.workers": 2})
    started, first = time.monotonic(), 0.0
    process = start(folder, "build", "--json", "--no-checks")
    while process.poll() is None:
        if not first and (folder / "corpus/ledger").exists():
            first = time.monotonic() - started
    assert process.communicate()
    assert process.returncode == 0
    return folder, first, time.monotonic() - started


def session(leader: int) -> list[psutil.Process]:
    """Every living process of a session."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def kill_after(folder: Path, seconds: float) -> None:
    """Kill a build's main process at a moment; everything it had started goes with it."""
    process = start(folder, "build", "--json", "--no-checks")
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    process.communicate()
    _, alive = psutil.wait_procs(session(process.pid), timeout=20)
    assert not alive, "processes outlived their build"


def stored_files(folder: Path) -> dict[str, bytes]:
    """Bytes of everything in the store that is neither temporary nor a record."""
    top = folder / "corpus"
    paths = [path for path in top.rglob("*") if path.is_file()]
    names = {str(path.relative_to(top)): path for path in paths}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith((TEMPORARY, "ledger"))}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_build_leaves_whole_partitions_and_the_next_one_finishes(
    undisturbed: tuple[Path, float, float], tmp_path: Path, number: int
) -> None:
    reference, first, end = undisturbed
    moment = first + (end - first) * (number + random.Random(number).random()) / (KILLS + 1)
    write_small(tmp_path, {"engine.workers": 2})
    kill_after(tmp_path, moment)

    corpus = opened(tmp_path)
    assert verify(corpus, deep=True).bad == []
    whole = stored_files(reference)
    assert all(whole[name] == content for name, content in stored_files(tmp_path).items())
    committed = live_records(corpus)

    code, out, err = run(tmp_path, "build", "--json", "--no-checks")
    assert code == 0, err
    expected: dict[str, int] = {}
    for name in digests(opened(reference)):
        if name not in committed:
            expected[name[0]] = expected.get(name[0], 0) + 1
    assert last_json(out)["by_asset"] == expected
    after = live_records(opened(tmp_path))
    assert {name: after[name] for name in committed} == committed
    assert {name: record.digest for name, record in after.items()} == digests(opened(reference))
    assert contents(opened(tmp_path)) == contents(opened(reference))
    assert not list((tmp_path / "corpus" / TEMPORARY).glob("*"))


@pytest.mark.slow
def test_a_change_of_mind_in_the_middle_of_a_build(undisturbed: tuple[Path, float, float], tmp_path: Path) -> None:
    """Configuration A is built, B is killed midway, and A again is what it was."""
    reference, first, end = undisturbed
    write_small(tmp_path, {"engine.workers": 2})
    assert not drive(opened(tmp_path)).failed
    write_small(tmp_path, {"engine.workers": 2, "short_documents.threshold": 90, "mix.seed": 5})
    kill_after(tmp_path, (first + end) / 2)
    write_small(tmp_path, {"engine.workers": 2})
    code, _, err = run(tmp_path, "build", "--json", "--no-checks")
    assert code == 0, err
    assert contents(opened(tmp_path)) == contents(opened(reference))
