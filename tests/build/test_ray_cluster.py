"""A corpus built on a Ray cluster equals one built on this machine, also when a raylet or the driver is killed."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from corpus_assets.cli.doctor import health
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.building.build import build
from resources.engine import ray, ray_cluster, ray_task
from resources.engine.ray_cluster import Machine
from resources.storage.s3.paths import unversioned
from tests.build.small import built_here, contents, digests, drive, opened, write_config, write_small
from tests.faults.command import MAIN
from tests.faults.test_interrupt import INTERRUPTED
from tests.object_store import Server
from tests.orchestration.silent import Silent
from tests.resources.engine.clusters import ARGUMENTS, cluster, copies, lose_when_busy, own_folders, wait_until
from tests.seams.test_seams import OWN, TAGGER

pytestmark = pytest.mark.slow
# A shell that starts the tests in the background ignores Ctrl-C, and so would what they start.
HEEDING = f"import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n{MAIN}"
COMMAND = [sys.executable, "-c", HEEDING, "build"]
MORE = {"mix.chunks": 6}


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the folders of the raylets are."""
    return tmp_path_factory.mktemp("raylets")


@pytest.fixture(scope="module")
def raylets(machines: Path, environment: None) -> Iterator[Any]:  # Workers have the environment of their raylet.
    with cluster(machines) as made:
        yield made


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Content of every file, as a build in this process makes it."""
    return built_here(tmp_path_factory.mktemp("expected") / "corpus-folder", MORE)


@pytest.fixture
def folder(tmp_path: Path, raylets: Any) -> Path:
    """A small corpus to be built on the cluster, which has noticed by then that a test killed a raylet."""
    raylets.wait_for_nodes(timeout=100)
    return write_small(tmp_path / "corpus-folder", MORE | on(raylets))


def on(raylets: Any) -> dict[str, Any]:
    return {"engine": {"kind": "ray", "address": raylets.address, "memory": "2 GiB"}}


def test_a_build_on_a_cluster_makes_the_same_and_a_second_one_nothing(
    folder: Path, expected: dict[str, str], raylets: Any
) -> None:
    corpus = opened(folder)
    report = build(corpus, list(corpus.graph), Silent())
    assert (report.failed, report.waiting) == ([], [])
    assert contents(corpus) == expected
    again = opened(folder)
    assert build(again, list(again.graph), Silent()).recomputed == 0
    assert "engine" not in again.__dict__


def test_the_doctor_says_what_the_cluster_has_and_which_machine_is_unfit(
    folder: Path, raylets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = health._engine(opened(folder))
    assert (found.broken, found.found.partition(";")[0]) == (False, "ray, 2 workers")
    assert "2 machines with 2 cores and at least 8.6 GB of memory each, all of which see the store" in found.found
    asked: list[str] = []

    def not_known_at_first(machine: Machine) -> Any:
        asked.append(machine.id)
        return ray_cluster.on_machine(machine._replace(id="a" * len(machine.id)) if len(asked) == 1 else machine)

    with monkeypatch.context() as patch:
        patch.setattr(ray, "on_machine", not_known_at_first)
        assert health._engine(opened(folder)) == found
    assert len(asked) == 4, "both machines were asked twice"
    monkeypatch.setattr(ray_task, "code_digest", lambda: "of another version")
    other = health._engine(opened(folder))
    assert other.broken and "has other code than this one" in other.found
    write_config(folder, MORE | {"engine": {"kind": "ray", "address": "localhost:1"}})
    absent = health._engine(opened(folder))
    assert absent.broken and "no Ray cluster can be reached at 'localhost:1'" in absent.found


def test_a_module_beside_the_configuration_runs_on_the_cluster(
    folder: Path, raylets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "my_tagger", raising=False)
    shutil.copy(OWN / "my_tagger.py", folder)
    write_config(folder, MORE | on(raylets) | TAGGER)
    corpus = opened(folder)
    stages = [
        stage
        for stage in corpus.graph
        if stage.name in ("inventory", "raw_source", "normalized_documents", "questions")
    ]
    assert drive(corpus, stages).failed == []
    assert len(corpus.ledger.records("questions")) == 7


def build_and_lose_a_raylet(corpus: Corpus, raylets: Any, folder: Path) -> None:
    """A build during which one of three raylets is killed while it works. folder: for what that one keeps."""
    machine = raylets.add_node(num_cpus=1, env_vars=own_folders(folder), **ARGUMENTS)
    raylets.wait_for_nodes()
    left: list[int] = []

    def lose() -> None:
        ledger = opened(corpus.home).ledger
        wait_until(lambda: bool(ledger.records("minhashes")))
        lose_when_busy(raylets, machine)
        left.append(len(corpus.graph.stages) - len([*opened(corpus.home).ledger.assets()]))

    losing = Thread(target=lose)
    losing.start()
    report = build(corpus, list(corpus.graph), Silent())
    losing.join()
    assert (report.failed, report.waiting) == ([], [])
    assert left and left[0] > 0, "no raylet was lost in the middle of the build"


def test_a_raylet_that_is_killed_in_the_middle_changes_nothing(
    folder: Path, expected: dict[str, str], raylets: Any, tmp_path: Path
) -> None:
    corpus = opened(folder)
    build_and_lose_a_raylet(corpus, raylets, tmp_path / "lost")
    assert contents(corpus) == expected


def test_a_corpus_in_an_object_store_is_the_same_when_the_driver_and_then_a_raylet_are_killed(
    folder: Path,
    expected: dict[str, str],
    raylets: Any,
    machines: Path,
    real_server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No folder is shared but that of the configuration: each machine keeps its copies where its user does."""
    for name, value in own_folders(tmp_path / "driver").items():
        monkeypatch.setenv(name, value)
    root = f"s3://{real_server.bucket}/on-ray/{tmp_path.name}"
    write_config(folder, MORE | on(raylets) | {"storage": {"root": root, "s3": real_server.section}})
    end_driver(folder, "normalized_documents", signal.SIGKILL, -9)
    before = finished(opened(folder))
    corpus = opened(folder)
    build_and_lose_a_raylet(corpus, raylets, tmp_path / "lost")
    assert all(copies(machines / f"machine-{number}") for number in range(2))
    assert {unversioned(path): found for path, found in contents(corpus).items()} == expected
    assert before.items() <= digests(corpus).items()
    assert drive(opened(folder)).recomputed == set()
    assert not (folder / "corpus").exists()


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, INTERRUPTED)])
def test_a_driver_that_is_ended_in_the_middle_is_started_again(
    folder: Path, expected: dict[str, str], raylets: Any, sent: int, code: int
) -> None:
    end_driver(folder, "band_keys", sent, code)
    before = finished(opened(folder))
    done = subprocess.run(COMMAND, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    corpus = opened(folder)
    assert contents(corpus) == expected
    assert before.items() <= digests(corpus).items()


def end_driver(folder: Path, stage: str, sent: int, code: int) -> None:
    """Begins a build and sends its driver a signal when a stage has a record. code: with which it must end."""
    ledger = opened(folder).ledger
    driver = subprocess.Popen(COMMAND, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_until(lambda: bool(ledger.records(stage)) or driver.poll() is not None)
        assert driver.poll() is None
        driver.send_signal(sent)
        _, said = driver.communicate(timeout=100)
        assert (driver.returncode, b"Traceback" in said) == (code, False), said
    finally:
        driver.kill()
        driver.wait()


def finished(corpus: Corpus) -> dict[tuple[str, str | None], str]:
    """Digests of the partitions that are there; some are."""
    found = digests(corpus)
    assert found
    return found
