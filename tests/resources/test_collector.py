"""The collector of cycles rests while modules load, and works again afterwards, in workers too."""

import gc
from collections.abc import Iterator

import pytest

from resources.engine.workers import Worker, new_pipe
from resources.processes.collector import loading


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker(new_pipe()[1])
    yield made
    made.stop()


def test_the_collector_works_again_after_loading_even_if_that_fails() -> None:
    with pytest.raises(ImportError), loading():
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()


def _collects(_: object) -> bool:
    return gc.isenabled()


def test_workers_collect_cycles(worker: Worker) -> None:
    """The process that they are forked from does not."""
    worker.give(_collects, [None], [0.0])
    assert [answer.result for answer in worker.answers()] == [True]
