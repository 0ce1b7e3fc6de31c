"""Batches: the same sequence whatever ranks and workers there are, and wherever a run stops and goes on."""

import json
import subprocess
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.reading import ReadingError, Separators, TokenStream, WindowDataset, WindowStream
from tests.house import TOP
from tests.reading.fake_torch import SOURCE, Info, use_fake_torch
from tests.reading.written import numbered, write_stream

END = Separators(after=9)


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> WindowDataset:
    """Twenty-six windows of five ids."""
    return of_documents(tmp_path_factory.mktemp("stream"), [20, 30], [49, 3])


def of_documents(folder: Path, *lengths: Sequence[int], **options: Any) -> WindowDataset:
    stream = TokenStream(write_stream(folder, *numbered(*lengths)))
    return WindowDataset(stream, 4, **{"separators": END, "seed": 5, **options})


def listed(windows: WindowDataset, epochs: int) -> list[list[int]]:
    """The windows of several epochs in order."""
    found = []
    for epoch in range(epochs):
        windows.set_epoch(epoch)
        found += [ids.tolist() for ids in windows]
    windows.set_epoch(0)
    return found


def joined(parts: Sequence[Any]) -> list[list[int]]:
    """The batch of all ranks: rank r has every R-th window of it."""
    size = sum(map(len, parts))
    return [parts[place % len(parts)][place // len(parts)].tolist() for place in range(size)]


def test_steps_are_the_windows_in_their_order(windows: WindowDataset) -> None:
    assert len(windows) == 26
    steps = [batch.tolist() for batch in islice(WindowStream(windows, 8), 9)]
    expected = listed(windows, 3)
    assert steps == [expected[at : at + 8] for at in range(0, 72, 8)]  # Two of the steps lie in two epochs.


@given(
    ranks_workers=st.lists(st.tuples(st.sampled_from([1, 2, 3, 6]), st.integers(0, 3), st.integers(0, 7)), max_size=5)
)
def test_a_run_goes_on_with_other_ranks_and_workers(
    windows: WindowDataset, ranks_workers: list[tuple[int, int, int]]
) -> None:
    size, state = 6, WindowStream(windows, 6).state_dict()
    found = []
    with pytest.MonkeyPatch.context() as patch:
        use_fake_torch(patch)
        for ranks, workers, steps in ranks_workers:
            streams = [WindowStream(windows, size, rank=rank, ranks=ranks) for rank in range(ranks)]
            for stream in streams:
                stream.load_state_dict(json.loads(json.dumps(state)))
            loaders = [stream.loader(workers) for stream in streams]
            found += [joined([next(loader) for loader in loaders]) for _ in range(steps)]
            (state,) = {json.dumps(stream.state_dict()): stream.state_dict() for stream in streams}.values()
    expected = listed(windows, 9)
    assert found == [expected[at : at + size] for at in range(0, len(found) * size, size)]
    epoch, samples = divmod(len(found) * size, len(windows))
    assert (state["epoch"], state["samples"]) == (epoch, samples)


def test_a_run_goes_on_with_another_batch_size(windows: WindowDataset) -> None:
    first = WindowStream(windows, 4)
    begun = list(islice(first, 5))
    second = WindowStream(windows, 10)
    second.load_state_dict(first.state_dict())
    begun += islice(second, 3)
    assert np.concatenate(begun).tolist() == listed(windows, 2)[:50]


@pytest.mark.parametrize("workers", [0, 1, 2, 3])
def test_epochs_end(windows: WindowDataset, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_torch(monkeypatch)
    stream = WindowStream(windows, 8, epochs=2)
    assert stream.unused == 4
    batches = list(stream.loader(workers))
    assert [batch.tolist() for batch in batches] == [listed(windows, 2)[at : at + 8] for at in range(0, 48, 8)]
    assert list(stream.loader(workers)) == []
    assert (stream.state_dict()["epoch"], stream.state_dict()["samples"], stream.unused) == (1, 22, 4)


def test_a_worker_has_no_state(windows: WindowDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    workers = use_fake_torch(monkeypatch)
    stream = WindowStream(windows, 2)
    workers.info = Info(0, 2)
    with pytest.raises(ReadingError, match="a worker does not know where the run stands"):
        stream.state_dict()


@pytest.mark.parametrize(
    "options", [{"seed": 6}, {"shared": False}, {"separators": Separators()}, {"separators": Separators(before=9)}]
)
def test_a_state_of_other_windows_is_refused(windows: WindowDataset, tmp_path: Path, options: dict[str, Any]) -> None:
    state = WindowStream(windows, 2).state_dict()
    other = of_documents(tmp_path, [20, 30], [49, 3], **options)
    with pytest.raises(ReadingError, match=r"the state is of \{.*these windows are of \{"):
        WindowStream(other, 2).load_state_dict(state)


def test_a_state_of_another_stream_is_refused(windows: WindowDataset, tmp_path: Path) -> None:
    state = WindowStream(windows, 2).state_dict()
    other = of_documents(tmp_path, [20, 29], [50, 3])
    assert (len(other.stream), other.stream.ids) == (len(windows.stream), windows.stream.ids)
    with pytest.raises(ReadingError, match=r"the state is of \{'layout': .*these windows are of \{"):
        WindowStream(other, 2).load_state_dict(state)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({}, "no state of a window stream: Object missing required field `version`"),
        ({"samples": -1}, "Expected `int` >= 0"),
        ({"epoch": "1"}, "Expected `int`, got `str`"),
        ({"version": 2}, "state of version 2; valid: 1"),
        ({"of": {}}, "the state is of {'documents': None"),
        ({"samples": 10**30}, "windows; valid: up to 2\\^62"),
    ],
)
def test_what_is_no_state(windows: WindowDataset, state: dict[str, Any], message: str) -> None:
    stream = WindowStream(windows, 2)
    with pytest.raises(ReadingError, match=message):
        stream.load_state_dict({**stream.state_dict(), **state} if state else {})


@pytest.mark.parametrize("state", [None, 5, "x", [1]])
def test_a_state_is_an_object(windows: WindowDataset, state: Any) -> None:
    with pytest.raises(ReadingError, match="no state of a window stream: Expected `object`"):
        WindowStream(windows, 2).load_state_dict(state)


def test_a_step_that_no_run_reaches_is_refused(windows: WindowDataset) -> None:
    with pytest.raises(ReadingError, match=r"step is 1000000000000000000000000000000; valid: 0 to 2305843009213693951"):
        WindowStream(windows, 2).documents(10**30)


def test_what_a_stream_cannot_be(windows: WindowDataset, tmp_path: Path) -> None:
    for options, message in (
        ({"batch_size": 0}, "batch_size is 0; valid: a multiple of the 1 ranks"),
        ({"batch_size": 5, "ranks": 2}, "batch_size is 5; valid: a multiple of the 2 ranks"),
        ({"batch_size": 2, "rank": 2, "ranks": 2}, "rank is 2 of 2; valid: 0 to 1"),
        ({"batch_size": 2, "epochs": 0}, "epochs is 0; valid: 1 or more"),
    ):
        with pytest.raises(ReadingError, match=message):
            WindowStream(windows, **options)
    with pytest.raises(ReadingError, match="no window of 5 ids"):
        WindowStream(of_documents(tmp_path, [3]), 2)


BASES = """
from corpus_assets.reading import PhasedStream, WindowDataset, WindowStream
for reader in (WindowDataset, WindowStream, PhasedStream):
    print(next(base.__name__ for base in reader.__mro__ if not base.__module__.startswith("corpus_assets")))
"""


@pytest.mark.parametrize(
    ("before", "bases"),
    [
        ("", ["Dataset", "IterableDataset", "IterableDataset"]),
        ("import sys; sys.modules['torch'] = None\n", ["object"] * 3),
    ],
)
def test_readers_are_datasets_of_torch_where_it_is_installed(tmp_path: Path, before: str, bases: list[str]) -> None:
    module = tmp_path / "torch" / "utils" / "data"
    module.mkdir(parents=True)
    for folder in (module.parents[1], module.parent):
        (folder / "__init__.py").touch()
    (module / "__init__.py").write_text(SOURCE)
    command, search = [sys.executable, "-c", before + BASES], {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, check=True, cwd=TOP, env=search, capture_output=True, text=True)
    assert done.stdout.split() == bases


@pytest.mark.parametrize("workers", [0, 2])
def test_loaders_of_torch(windows: WindowDataset, workers: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is no dependency")
    stream = WindowStream(windows, 6)
    loader = stream.loader(workers)
    begun = [next(loader) for _ in range(5)]
    assert begun[0].dtype == torch.int64
    state = stream.state_dict()
    other = WindowStream(windows, 6)
    other.load_state_dict(state)
    later = other.loader(2 - workers)
    begun += [next(later) for _ in range(4)]
    assert torch.cat(begun).tolist() == listed(windows, 3)[:54]


@pytest.mark.parametrize("workers", [0, 2])
def test_loaders_of_torch_take_windows_in_batches(windows: WindowDataset, workers: int) -> None:
    data = pytest.importorskip("torch.utils.data", reason="torch is no dependency")
    loader = data.DataLoader(windows, batch_size=8, num_workers=workers)
    assert [batch.tolist() for batch in loader] == [listed(windows, 1)[at : at + 8] for at in range(0, 26, 8)]
