"""A corpus built by a Slurm job equals one built on this machine, also when a task is lost or the job interrupted."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.kernels.cache_folder import cache_base
from tests.build.small import built_here, contents, opened, write_small
from tests.deploy.slurm import Slurm, slurm
from tests.resources.engine.clusters import wait_until

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).resolve().parents[2] / "deploy" / "slurm" / "build.sbatch"
MORE = {"mix.chunks": 6}
WAIT = 500.0
ENGINE = {"engine": {"kind": "ray", "memory": "2 GiB"}}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    pytest.importorskip("ray", reason="it comes with the extra `ray`")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        patch.setenv("CORPUS_HEAD", "127.0.0.1")
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("NUMBA_CACHE_DIR", str(cache_base()))
        with slurm() as made:
            yield made


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Content of every file, as a build in this process makes it."""
    return built_here(tmp_path_factory.mktemp("expected") / "corpus-folder", MORE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_small(tmp_path / "corpus-folder", MORE | ENGINE)


def reached(folder: Path, asset: str) -> bool:
    """Whether a partition of an asset is built; False while there is no store."""
    return bool(opened(folder).ledger.records(asset))


def left(folder: Path) -> set[str]:
    """The assets of which nothing is built."""
    corpus = opened(folder)
    return set(corpus.graph.stages) - set(corpus.ledger.assets())


def ended(nodes: Slurm, folder: Path, job: str) -> str:
    """Waits for a job, and returns what it printed."""
    wait_until(lambda: nodes.has_ended(job), WAIT)
    return (folder / "output").read_text()


def test_a_job_whose_time_is_over_keeps_what_is_built_and_the_same_line_goes_on_though_a_task_is_lost(
    nodes: Slurm, folder: Path, expected: dict[str, str]
) -> None:
    job = nodes.submit(SCRIPT, folder, "--quiet")
    wait_until(lambda: reached(folder, "normalized_documents") or nodes.has_ended(job), WAIT)
    nodes.asked("scancel", "--batch", "--signal=INT", job)
    said = ended(nodes, folder, job)
    assert "interrupted; finished partitions are kept" in said
    assert nodes.state(job)["ExitCode"] == "130:0"
    built = dict(opened(folder).ledger.records("normalized_documents"))
    missing = left(folder)
    assert built and missing
    again = nodes.submit(SCRIPT, folder, "--quiet")
    wait_until(lambda: left(folder) < missing or nodes.has_ended(again), WAIT)
    nodes.lose(again, "two")
    assert left(folder), "no task was lost in the middle of the build"
    said = ended(nodes, folder, again)
    assert nodes.state(again)["ExitCode"] == "0:0", said
    assert "2 of 2 nodes have joined" in said
    assert contents(opened(folder)) == expected
    after = opened(folder).ledger.records("normalized_documents")
    assert {key: after[key].created for key in built} == {key: one.created for key, one in built.items()}
    for ran in (job, again):
        assert not Path(f"/tmp/ray-{ran}").exists()
        assert not nodes.processes(ran, "one")


def test_a_build_that_fails_fails_the_job(nodes: Slurm, folder: Path) -> None:
    job = nodes.submit(SCRIPT, folder, "--select", "nothing_of_this_name")
    said = ended(nodes, folder, job)
    assert nodes.state(job)["JobState"] == "FAILED"
    assert nodes.state(job)["ExitCode"] == "2:0"
    assert "nothing_of_this_name" in said
