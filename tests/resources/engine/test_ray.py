"""The engine on Ray: outcomes, deaths and losses of tasks, limits; on two raylets of this machine."""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
import pytest

from resources.engine import ray, ray_cluster, ray_task
from resources.engine.libraries import differences, versions
from resources.engine.ray import RayEngine, _sharing
from resources.engine.ray_cluster import Machine
from resources.engine.time_limit import within
from resources.errors import ConfigError, EngineError
from resources.stage.jobs.job import Job, Outcome
from resources.storage.local.store import LocalStorage
from resources.storage.owner_file import OWNER
from resources.storage.ownership import Claimant, claim
from tests.resources.engine.clusters import ARGUMENTS, cluster, wait_until
from tests.resources.engine.test_local import _deaf, _done, _endless, _process_of, jobs

pytestmark = pytest.mark.slow
MEMORY = 1 << 30


@pytest.fixture(scope="module")
def raylets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster that these tests share."""
    with cluster(tmp_path_factory.mktemp("raylets")) as made:
        yield made


@pytest.fixture
def engine(raylets: Any) -> Iterator[RayEngine]:
    made = RayEngine(raylets.address, None, MEMORY)
    yield made
    made.close()


def test_every_job_has_an_outcome_and_the_queue_is_taken_as_it_is_needed(engine: RayEngine, tmp_path: Path) -> None:
    assert (engine.workers, engine.workers_per_machine, engine.whole_alone) == (2, 1, False)
    taken = 0

    def queue() -> Iterator[Job]:
        nonlocal taken
        for job in jobs(tmp_path, 3000):
            taken += 1
            yield job

    engine._work = _done
    running = engine.run(queue())
    first = next(running)
    assert taken < 3000
    assert {first.partition, *(outcome.partition for outcome in running)} == {f"chunk-{n}" for n in range(3000)}


def _dies_at_30(job: Job) -> Outcome:
    if job.partition == "chunk-30":
        os._exit(9)
    return _done(job)


def test_a_job_that_kills_its_worker_twice_fails_alone(
    engine: RayEngine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    engine._work = _dies_at_30
    outcomes = {outcome.partition: outcome.error for outcome in engine.run(jobs(tmp_path, 60))}
    assert outcomes.keys() == {f"chunk-{n}" for n in range(60)}
    assert {name: error for name, error in outcomes.items() if error} == {
        "chunk-30": "a/chunk-30: the worker process died (killed, or out of memory)"
    }
    engine.close()
    assert capfd.readouterr().out == ""


def _kills_its_neighbour(job: Job) -> Outcome:
    """Of two jobs the second dies, and twice takes the first with it, as when the memory of their machine is full."""
    folder = Path(job.parameters["folder"])
    deaths = folder / "deaths"
    if job.partition == "chunk-0":
        (folder / f"{os.getpid()}.begun").touch()
        wait_until(lambda: deaths.exists() and len(deaths.read_text()) >= 2)
        return _done(job)
    if not deaths.exists() or len(deaths.read_text()) < 2:
        wait_until(lambda: any(folder.glob("*.begun")))
        for file in folder.glob("*.begun"):
            os.kill(int(file.stem), signal.SIGKILL)
            file.unlink()
    with deaths.open("a") as count:
        count.write("x")
    os._exit(9)


def test_a_job_whose_worker_dies_of_another_is_not_blamed(engine: RayEngine, tmp_path: Path) -> None:
    engine._work = _kills_its_neighbour
    given = [replace(job, parameters={"folder": str(tmp_path)}) for job in jobs(tmp_path, 2)]
    outcomes = {outcome.partition: outcome.error for outcome in engine.run(given)}
    assert outcomes == {"chunk-0": None, "chunk-1": "a/chunk-1: the worker process died (killed, or out of memory)"}
    assert (tmp_path / "deaths").read_text() == "xxx"


def test_a_suspect_whose_machine_is_lost_runs_apart_again(engine: RayEngine, tmp_path: Path) -> None:
    [suspect] = jobs(tmp_path, 1)
    assert list(engine._lost(ray._Flight([suspect], alone=True, apart=True))) == []
    assert not engine._again and [(flight.apart, flight.lost) for flight in engine._suspects] == [(True, 1)]


def test_a_job_that_takes_too_long_fails_by_name_and_the_others_go_on(raylets: Any, tmp_path: Path) -> None:
    engine = RayEngine(raylets.address, None, MEMORY, work=_endless, job_timeout=1.0)
    outcomes = {outcome.partition: outcome.error for outcome in engine.run(jobs(tmp_path, 4))}
    assert outcomes.pop("chunk-1") == "it takes longer than engine.job_timeout allows (1 s)"
    assert outcomes == {"chunk-0": None, "chunk-2": None, "chunk-3": None}
    engine._work = within(1.0, _deaf, grace=0.2)
    deaf = {outcome.partition: outcome.error for outcome in engine.run(jobs(tmp_path, 3))}
    engine.close()
    assert deaf.pop("chunk-1") == "it takes longer than engine.job_timeout allows (1 s)"
    assert deaf == {"chunk-0": None, "chunk-2": None}


def test_a_module_that_a_machine_does_not_have_is_named(
    engine: RayEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "of_here_alone.py").write_text("def work(job):\n    return job\n")
    monkeypatch.syspath_prepend(tmp_path)
    engine._work = import_module("of_here_alone").work
    shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    (tmp_path / "of_here_alone.py").unlink()
    with pytest.raises(EngineError, match=r"cannot load what a job names: No module named 'of_here_alone'; valid: "):
        list(engine.run(jobs(tmp_path, 1)))


def _raises(job: Job) -> Outcome:
    raise KeyError(job.partition)


def test_an_error_of_the_work_itself_is_raised(engine: RayEngine, tmp_path: Path) -> None:
    engine._work = _raises
    with pytest.raises(KeyError, match="chunk-0"):
        list(engine.run(jobs(tmp_path, 1)))


def _marks_and_waits(job: Job) -> Outcome:
    """Shows that it runs, and ends only when it is interrupted; then it says so."""
    folder = Path(job.parameters["folder"])
    (folder / f"{job.partition}.begun").touch()
    try:
        while True:
            time.sleep(0.01)
    finally:
        (folder / f"{job.partition}.ended").touch()


def _ends_when_asked_again(job: Job) -> Outcome:
    """Misses the first interrupt."""
    folder = Path(job.parameters["folder"])
    try:
        return _marks_and_waits(job)
    except KeyboardInterrupt:
        (folder / f"{job.partition}.ended").unlink()
    return _marks_and_waits(job)


def _never_ends(job: Job) -> Outcome:
    """Shows its process."""
    Path(job.parameters["folder"], f"{job.partition}.process").write_text(str(os.getpid()))
    while True:
        with suppress(KeyboardInterrupt):
            _marks_and_waits(job)


@pytest.mark.parametrize("work", [_marks_and_waits, _ends_when_asked_again])
def test_an_interrupted_build_ends_its_tasks_and_not_the_cluster(
    engine: RayEngine, tmp_path: Path, work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray, "_GRACE", 100.0)  # On a busy machine they may take longer to hear of it than usual.
    engine._work = work
    with pytest.raises(KeyboardInterrupt):
        _first_two_then_more(engine, _interrupted(tmp_path))
    engine.close()
    assert {file.stem for file in tmp_path.glob("*.ended")} == {"chunk-0", "chunk-1"}
    engine._work = _done
    assert len(list(engine.run(jobs(tmp_path, 5)))) == 5


def test_tasks_that_heed_no_interrupt_are_killed(
    engine: RayEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray, "_GRACE", 2.0)
    engine._work = _never_ends
    with pytest.raises(KeyboardInterrupt):
        _first_two_then_more(engine, _interrupted(tmp_path))
    processes = [int(file.read_text()) for file in tmp_path.glob("*.process")]
    assert len(processes) == 2
    wait_until(lambda: not any(map(psutil.pid_exists, processes)))


def _interrupted(folder: Path) -> Iterator[Job]:
    """Two jobs, and an interrupt when both have begun."""
    yield from (replace(job, parameters={"folder": str(folder)}) for job in jobs(folder, 2))
    wait_until(lambda: len(list(folder.glob("*.begun"))) == 2)
    raise KeyboardInterrupt


def _first_two_then_more(engine: RayEngine, queue: Iterator[Job]) -> None:
    """Has the engine launch what it can twice: the second time the queue raises."""
    engine._most = 2
    try:
        engine._launch(queue)
        engine._most = 4
        engine._launch(queue)
    finally:
        engine._cancel()


def _takes_a_moment(job: Job) -> Outcome:
    time.sleep(0.01)
    return _done(job)


def test_tasks_that_end_while_they_are_cancelled_do_not_end_the_driver(engine: RayEngine, tmp_path: Path) -> None:
    engine._work = _takes_a_moment
    ray = ray_cluster.load_ray()
    for _ in range(20):
        engine._launch(iter(jobs(tmp_path, 2)))
        ray.wait(list(engine._flights), num_returns=1)  # The other ends in the same moment.
        engine._cancel()
    assert len(list(engine.run(jobs(tmp_path, 4)))) == 4


def _dies_elsewhere(item: tuple[int, int]) -> int:
    number, asking = item
    if number == 2 and os.getpid() != asking:
        os._exit(9)
    return number


def test_functions_are_spread_over_the_cluster_once_it_has_done_jobs(engine: RayEngine, tmp_path: Path) -> None:
    engine._work = _done
    assert set(engine.spread(_process_of, range(3))) == {os.getpid()}
    list(engine.run(jobs(tmp_path, 2)))
    assert os.getpid() not in set(engine.spread(_process_of, range(4)))
    assert list(engine.spread(str, range(20))) == [str(number) for number in range(20)]
    assert list(engine.spread(_dies_elsewhere, [(n, os.getpid()) for n in range(5)])) == list(range(5))


def test_what_no_machine_has_room_for_any_more_is_done_here(
    engine: RayEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine._work = _done
    list(engine.run(jobs(tmp_path, 2)))
    monkeypatch.setattr(ray, "_LOOK_EVERY", 0.1)
    monkeypatch.setattr(engine, "own_memory", 1 << 40)  # as if all machines that had it were lost
    assert set(engine.spread(_process_of, range(3))) == {os.getpid()}


def _environment(job: Job) -> Outcome:
    return replace(_done(job), error=" ".join(os.environ.get(name, "") for name in job.parameters["names"]))


def test_workers_have_one_thread_each(engine: RayEngine, tmp_path: Path) -> None:
    engine._work = _environment
    names = ("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "TOKENIZERS_PARALLELISM")
    [job] = jobs(tmp_path, 1)
    [outcome] = engine.run([replace(job, parameters={"names": names})])
    assert outcome.error == "1 1 false"


def test_a_machine_that_sees_another_store_is_refused(
    engine: RayEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine._work = _done
    claim(LocalStorage(tmp_path), Claimant("corpus", tmp_path / "corpus.yaml"))
    assert [outcome.error for outcome in engine.run(jobs(tmp_path, 1))] == [None]
    monkeypatch.setattr(ray_task, "nonce_of", lambda _: "that of a folder of the same name elsewhere")
    with pytest.raises(EngineError, match=r"does not see the store .*; valid: a folder that all machines"):
        list(engine.run(jobs(tmp_path, 1)))
    monkeypatch.setattr(ray_task, "versions", lambda: (*versions(), ("ftfy-next", "6.9"), ("ftfy-plus", "1")))
    with pytest.raises(EngineError, match=r"machine \S+ has ftfy-next is missing instead of 6\.9, ftfy-plus is"):
        list(engine.run(jobs(tmp_path, 1)))
    monkeypatch.setattr(ray_task, "code_digest", lambda: "of another version")
    with pytest.raises(EngineError, match="has other code than this one; install the same corpus-assets"):
        list(engine.run(jobs(tmp_path, 1)))
    assert (tmp_path / OWNER).exists()


def test_a_machine_that_gives_no_proof_in_time_is_said(
    engine: RayEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim(LocalStorage(tmp_path), Claimant("corpus", tmp_path / "corpus.yaml"))
    assert engine.unfit(LocalStorage(tmp_path)) == []
    monkeypatch.setattr(ray, "_LONGEST_PROOF", 0.0)
    with pytest.raises(EngineError, match="a machine of the Ray cluster does not answer"):
        engine.unfit(LocalStorage(tmp_path))


def test_a_machine_may_have_more_libraries_and_no_other_versions() -> None:
    assert {"python", "unicode", "ftfy", "tokenizers", "numpy", "pyarrow"} <= dict(versions()).keys()
    assert differences(versions(), (*versions(), ("spacy-more", "3"))) == []
    other = tuple((name, "6.0" if name == "ftfy" else one) for name, one in versions() if name != "numpy")
    known = dict(versions())
    assert differences(versions(), other) == [
        f"ftfy 6.0 instead of {known['ftfy']}",
        f"numpy is missing instead of {known['numpy']}",
    ]


def test_workers_share_the_memory_of_the_largest_machine_and_a_smaller_one_takes_what_fits() -> None:
    large, small = Machine("a", "one", 8, 16 << 30), Machine("b", "two", 8, 6 << 30)
    assert _sharing([large, small], 16 << 30, None) == 8
    assert _sharing([large, small], 16 << 30, 3) == 3
    assert _sharing([], 16 << 30, 5) == 5
    with pytest.raises(ConfigError, match=r"engine.memory: .* gives out more than 6,442,450,944; lower it"):
        _sharing([small], 16 << 30, None)
    with pytest.raises(ConfigError, match=r"engine.workers: the Ray cluster has no cores now"):
        _sharing([], 16 << 30, None)


def test_memory_that_no_machine_has_and_a_cluster_that_is_not_there_are_said(raylets: Any) -> None:
    with pytest.raises(
        ConfigError, match=r"engine.memory: .* bytes are needed, but no machine of the Ray cluster gives out more"
    ):
        RayEngine(raylets.address, None, 1 << 40)
    ray_cluster.disconnect()
    with pytest.raises(ConfigError, match=r"engine.address: no Ray cluster can be reached at 'localhost:1'"):
        RayEngine("localhost:1", None, MEMORY)
    with pytest.raises(ConfigError, match=r"at 'no-such-host\.invalid:6379'"):
        RayEngine("no-such-host.invalid", None, MEMORY)


def test_an_address_of_the_environment_is_named_where_no_cluster_is(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="it comes with the extra `ray`")
    ray_cluster.disconnect()
    monkeypatch.setenv("RAY_ADDRESS", "localhost:1")
    with pytest.raises(ConfigError, match=r"can be reached at 'localhost:1', which \$RAY_ADDRESS names: "):
        ray_cluster.connect("auto")


def _waits(job: Job) -> Outcome:
    """Shows that it runs, and waits until it may go on."""
    folder = Path(job.parameters["folder"])
    (folder / f"{os.getpid()}.begun").touch()
    wait_until((folder / "go").exists)
    return _done(job)


@pytest.mark.parametrize(("retries", "failed"), [(3, 0), (0, 1)])
def test_jobs_of_a_lost_machine_are_done_again_at_most_so_often(
    raylets: Any, tmp_path: Path, retries: int, failed: int
) -> None:
    machine = raylets.add_node(num_cpus=1, **ARGUMENTS)
    raylets.wait_for_nodes()
    engine = RayEngine(raylets.address, None, MEMORY, work=_waits, retries=retries)

    def lose_one_when_all_are_busy() -> None:
        wait_until(lambda: len(list(tmp_path.glob("*.begun"))) == 3)
        working = [int(file.stem) for file in tmp_path.glob("*.begun")]
        raylets.remove_node(machine, allow_graceful=False)
        wait_until(lambda: not all(map(psutil.pid_exists, working)))
        (tmp_path / "go").touch()

    losing = Thread(target=lose_one_when_all_are_busy)
    losing.start()
    given = [replace(job, parameters={"folder": str(tmp_path)}) for job in jobs(tmp_path, 9)]
    outcomes = {outcome.partition: outcome.error for outcome in engine.run(given)}
    losing.join()
    engine.close()
    raylets.wait_for_nodes(timeout=100)
    assert outcomes.keys() == {job.partition for job in given}
    errors = [error for error in outcomes.values() if error]
    assert len(errors) == failed
    assert all("1 machines were lost that computed it; engine.retries is 0" in error for error in errors)
