"""Phases: whatever stops and changes of later phases there are, each source is read on, window by window."""

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.reading import (
    Phase,
    PhasedStream,
    ReadingError,
    Separators,
    TokenStream,
    WindowDataset,
    WindowStream,
    batches_of_state,
)
from corpus_assets.reading import partition as partitions_of_streams
from corpus_assets.reading.phases.plan import PARTS, planned
from corpus_assets.reading.phases.schedule import Schedule
from tests.reading.fake_torch import use_fake_torch
from tests.reading.test_documents import ids_of
from tests.reading.test_window_stream import joined
from tests.reading.written import numbered, separated, write_stream

LENGTH = 4
END = Separators(after=9)


def write_mixed(folder: Path, *lengths: Sequence[int]) -> TokenStream:
    """Documents of these lengths, of the sources a, b and c in turns of 1, 2 and 3 documents."""
    turns = [0, 1, 1, 2, 2, 2]
    sources = [[turns[place % 6] for place in range(len(one))] for one in lengths]
    return TokenStream(write_stream(folder, *numbered(*lengths), sources=sources))


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> TokenStream:
    """A stream whose sources have 5, 11 and 15 windows of four ids and one."""
    return write_mixed(tmp_path_factory.mktemp("stream"), [7, 3, 9, 2, 6, 8, 4, 11, 5], [3, 10, 0, 6, 7, 7, 8, 9])


@given(
    documents=st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), max_size=20), min_size=1, max_size=4),
    length=st.integers(1, 9),
    shared=st.booleans(),
    separators=st.builds(Separators, st.sampled_from([None, 7]), st.sampled_from([None, 9])),
)
def test_windows_of_a_source_are_those_of_its_documents(
    documents: list[list[tuple[int, int]]],
    length: int,
    shared: bool,
    separators: Separators,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    lists = numbered(*[[size for size, _ in one] for one in documents])
    sources = [[source for _, source in one] for one in documents]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions_of_streams, "BLOCK_DOCUMENTS", 3)
        stream = TokenStream(write_stream(tmp_path_factory.mktemp("stream"), *lists, sources=sources))
        for number, name in enumerate("abc"):
            own = [
                [ids for ids, source in zip(*pair, strict=True) if source == number]
                for pair in zip(lists, sources, strict=True)
            ]
            whole, step = separated(own, separators), length if shared else length + 1
            expected = [whole[at : at + length + 1] for at in range(0, len(whole), step) if at + length < len(whole)]
            windows = WindowDataset(stream, length, source=name, separators=separators, shared=shared, seed=None)
            assert windows.windows(np.arange(len(windows))).tolist() == expected
            assert [ids_of(windows, windows.documents(n)) for n in range(len(windows))] == expected
            assert {p.origin.source for n in range(len(windows)) for p in windows.documents(n)} <= {name}


WEIGHTS = st.dictionaries(st.sampled_from("abc"), st.sampled_from([0.1, 0.5, 1, 3]), min_size=1)
PHASE = st.builds(Phase, st.integers(LENGTH, 60), WEIGHTS)
LEG = st.tuples(
    st.integers(0, 6),  # steps
    st.sampled_from([(2, 1), (2, 2), (6, 3), (3, 1)]),  # windows of a batch, and ranks
    st.integers(0, 2),  # workers
    st.lists(PHASE, max_size=3),  # the phases after it
    st.integers(0, 3),  # how many windows of the current phase are left
)


@given(first=PHASE, legs=st.lists(LEG, min_size=1, max_size=6))
def test_changes_of_later_phases_lose_and_repeat_nothing(
    stream: TokenStream, first: Phase, legs: list[tuple[int, tuple[int, int], int, list[Phase], int]]
) -> None:
    plan, state = [first], None
    found: list[list[int]] = []
    with pytest.MonkeyPatch.context() as patch:
        use_fake_torch(patch)
        for steps, (size, ranks), workers, later, left in legs:
            plan = changed(plan, len(found), later, left)
            batches = [
                PhasedStream(stream, LENGTH, plan, size, rank=rank, ranks=ranks, separators=END, seed=3)
                for rank in range(ranks)
            ]
            if state is not None:
                for one in batches:
                    one.load_state_dict(json.loads(json.dumps(state)))
            loaders = [one.loader(workers) for one in batches]
            for step, parts in enumerate(islice(zip(*loaders, strict=True), steps)):
                named = [one.documents(step, raw=False) for one in batches]
                whole = joined(parts)
                assert joined_pieces(batches[0], named) == whole
                found += whole
            (state,) = {json.dumps(one.state_dict()): one.state_dict() for one in batches}.values()
            assert state["samples"] == len(found)
            assert sum(state["used"].values()) == len(found)
    for source in "abc":
        windows = WindowDataset(stream, LENGTH, source=source, separators=END, seed=3)
        own = {tuple(ids) for ids in windows.windows(np.arange(len(windows))).tolist()}
        read = [ids for ids in found if tuple(ids) in own]
        epochs = -(-len(read) // len(windows))
        expected = [ids for epoch in range(epochs) for ids in windows.of_epoch(epoch, np.arange(len(windows))).tolist()]
        assert read == expected[: len(read)]
    require_shares(stream, plan, found)


def changed(plan: list[Phase], had: int, later: list[Phase], left: int) -> list[Phase]:
    """Another plan of which the run has had the same windows: the current phase is cut, the later ones are others."""
    kept, begin = [], 0
    for phase in plan:
        windows = phase.tokens // LENGTH
        if had < begin + windows:
            kept.append(phase._replace(tokens=max(had - begin + left, 1) * LENGTH))
            break
        kept.append(phase)
        begin += windows
    return [*kept, *later]


def joined_pieces(batches: PhasedStream, named: list[list[Any]]) -> list[list[int]]:
    """The ids that the pieces of all ranks name, window by window."""
    windows = next(iter(batches.windows.values()))
    ranks = [[ids_of(windows, pieces) for pieces in rank] for rank in named]
    return [ranks[place % len(ranks)][place // len(ranks)] for place in range(sum(map(len, ranks)))]


def require_shares(stream: TokenStream, plan: list[Phase], found: list[list[int]]) -> None:
    """In every phase each source has its share of the windows so far, but for fewer than there are sources."""
    source_of: dict[tuple[int, ...], str] = {}
    for source in "abc":
        windows = WindowDataset(stream, LENGTH, source=source, separators=END)
        source_of |= {tuple(ids): source for ids in windows.windows(np.arange(len(windows))).tolist()}
    begin = 0
    for phase in plan:
        of = [source_of[tuple(ids)] for ids in found[begin : begin + phase.tokens // LENGTH]]
        begin += len(of)
        whole = sum(phase.weights.values())
        for source in "abc":
            share = phase.weights.get(source, 0) / whole
            assert all(abs(of[:n].count(source) - share * n) < 3 for n in range(len(of) + 1))
            assert share or source not in of


def test_the_order_of_sources_is_that_of_the_largest_lack() -> None:
    plan = planned([Phase(7, {"a": 5, "b": 1, "c": 1}), Phase(4, {"b": 1, "a": 1})], 1)
    sources, uses = Schedule(plan).windows(0, 11)
    assert "".join("abc"[source] for source in sources) == "aabacaa" + "abab"
    assert uses.tolist() == [0, 1, 0, 2, 0, 3, 4, 5, 1, 6, 2]


@given(phases=st.lists(st.builds(Phase, st.integers(1, 40), WEIGHTS), min_size=1, max_size=5), data=st.data())
def test_a_schedule_may_be_asked_in_any_order(phases: list[Phase], data: st.DataObject) -> None:
    plan = planned(phases, 1)
    whole = Schedule(plan)
    sources, uses = whole.windows(0, len(whole))
    other = Schedule(plan)
    for _ in range(5):
        first = data.draw(st.integers(0, len(whole) - 1))
        count = data.draw(st.integers(0, len(whole) - first))
        found = other.windows(first, count)
        assert [one.tolist() for one in found] == [sources[first:][:count].tolist(), uses[first:][:count].tolist()]
        counts = other.counts(first)
        assert counts == {name: int((sources[:first] == number).sum()) for number, name in enumerate(other.sources)}


@given(st.dictionaries(st.text(), st.floats(0.01, 1e4), min_size=1))
def test_parts_add_up(weights: dict[str, float]) -> None:
    (phase,) = planned([Phase(1, weights)], 1)
    assert sum(phase.parts.values()) == PARTS
    assert planned([Phase(1, phase.parts)], 1) == [phase]
    total = sum(weights.values())
    assert all(abs(part / PARTS - weights[source] / total) < 1e-8 for source, part in phase.parts.items())


PLAN = [Phase(40, {"a": 1, "b": 3}), Phase(80, {"b": 1, "c": 1}), Phase(40, {"c": 1})]


def run(stream: TokenStream, plan: Sequence[Phase] = PLAN, **options: Any) -> PhasedStream:
    return PhasedStream(stream, LENGTH, plan, **{"batch_size": 4, "separators": END, **options})


def test_a_plan_ends(stream: TokenStream) -> None:
    batches = run(stream, batch_size=6)
    assert len(list(batches)) == 6
    assert batches.unused == 4
    assert batches.epochs() == {
        source: used / len(batches.windows[source]) for source, used in {"a": 3, "b": 17, "c": 20}.items()
    }
    drawn = run(stream).drawn(0)
    assert [(one.source, one.epoch) for one in drawn] == [("b", 0), ("a", 0), ("b", 0), ("b", 0)]


@pytest.mark.parametrize(
    ("plan", "fault"),
    [
        ([PLAN[0], Phase(80, {"b": 1, "c": 2}), PLAN[2]], "had 5 windows of phase 1 with parts .* the same weights"),
        ([Phase(40, {"a": 1, "b": 4}), *PLAN[1:]], "had 10 windows of phase 0"),
        ([Phase(44, PLAN[0].weights), *PLAN[1:]], "phase 0 has 11 windows; valid: 10, as the run has had them"),
        ([PLAN[0], Phase(16, PLAN[1].weights), PLAN[2]], "phase 1 has 4 windows; valid: 5 or more"),
        ([PLAN[0]], "the plan has no such phase"),
    ],
)
def test_a_state_that_contradicts_the_plan_is_refused(stream: TokenStream, plan: list[Phase], fault: str) -> None:
    begun = run(stream, batch_size=5)
    list(islice(begun, 3))
    with pytest.raises(ReadingError, match=fault):
        run(stream, plan).load_state_dict(begun.state_dict())


@pytest.mark.parametrize(
    "plan",
    [
        PLAN[:2],
        [*PLAN, Phase(20, {"a": 1})],
        [PLAN[0], Phase(20, PLAN[1].weights)],
        [PLAN[0], Phase(400, PLAN[1].weights), Phase(40, {"a": 1})],
        [Phase(40, {"b": 6, "a": 2}), *PLAN[1:]],
    ],
)
def test_a_plan_may_change_after_where_the_run_stands(stream: TokenStream, plan: list[Phase]) -> None:
    begun = run(stream, batch_size=5)
    list(islice(begun, 3))
    later = run(stream, plan, batch_size=5)
    later.load_state_dict(begun.state_dict())
    state = later.state_dict()
    assert state["samples"] == 15
    assert state["used"] == begun.state_dict()["used"] == {"a": 3, "b": 10, "c": 2}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"used": {"a": 3, "b": 7, "c": 1}}, "the state is of"),
        ({"samples": 99}, "the run has had 99 windows; the plan has 40"),
        ({"samples": -1}, "Expected `int` >= 0"),
        ({"version": 2}, "state of version 2; valid: 1"),
        ({"phases": [{"windows": 0, "parts": {}}]}, "Expected `int` >= 1"),
        ({"phases": [{"windows": 1 << 60, "parts": {}}]}, "Expected `int` <= "),
        ({"samples": 4, "phases": []}, "the run has had 4 windows; the phases of its state 0"),
        ({"of": {}}, "the state is of {'documents': None"),
        ({"sources": {"a": "other"}}, "the state is of {'a': 'other'}"),
    ],
)
def test_what_is_no_state(stream: TokenStream, changes: dict[str, Any], fault: str) -> None:
    batches = run(stream)
    with pytest.raises(ReadingError, match=fault):
        batches.load_state_dict({**batches.state_dict(), **changes})


def test_other_windows_are_refused(stream: TokenStream, tmp_path: Path) -> None:
    state = run(stream).state_dict()
    for options in ({"seed": 1}, {"shared": False}, {"separators": Separators()}):
        with pytest.raises(ReadingError, match=r"the state is of \{.*these windows are of \{"):
            run(stream, **options).load_state_dict(state)
    lengths = [7, 3, 9, 2, 6, 8, 4, 11, 5], [3, 10, 0, 6, 7, 7, 8, 9]
    swapped = [[0] * 5 + [1] * 4, [2] * 8]
    other = TokenStream(write_stream(tmp_path, *numbered(*lengths), sources=swapped))
    with pytest.raises(ReadingError, match=r"the state is of \{'a': "):
        run(other).load_state_dict(state)


@pytest.mark.parametrize(
    ("plan", "fault"),
    [
        ([], "the plan has no phase"),
        ([Phase(3, {"a": 1})], "phase 0: tokens is 3; valid: 4, one window, to"),
        ([Phase(4, {})], "phase 0: weights are {}; valid: at least one above 0"),
        ([Phase(4, {"a": -1})], "weights are {'a': -1}; valid: numbers from 0 up"),
        ([Phase(4, {"a": float("nan")})], "valid: numbers from 0 up"),
        ([Phase(4, {"a": 1, "b": 1e-12})], "'b' has less than 1 / 4,294,967,296 of the weights"),
        ([Phase(1 << 60, {"a": 1})], "phase 0: tokens is 1152921504606846976; valid: 4, one window, to"),
        ([Phase(4, {"d": 1})], "the stream has no source 'd'; valid: a, b, c"),
    ],
)
def test_what_a_plan_cannot_be(stream: TokenStream, plan: list[Phase], fault: str) -> None:
    with pytest.raises(ReadingError, match=fault):
        run(stream, plan)


@pytest.mark.parametrize("phase", [(4.5, {"a": 1}), ("4", {"a": 1}), (4, {"a": "1"}), (4, None), (4, ["a"])])
def test_a_phase_is_a_whole_number_and_numbers(stream: TokenStream, phase: Any) -> None:
    with pytest.raises(ReadingError, match=r"phase 0 is Phase\(tokens=.*valid: Phase\(tokens, weights\)"):
        run(stream, [Phase(*phase)])


def test_windows_of_no_length_are_refused(stream: TokenStream) -> None:
    with pytest.raises(ReadingError, match="length is 0; valid: 1 or more"):
        PhasedStream(stream, 0, PLAN, 1)


def test_a_source_without_a_window_is_named(tmp_path: Path) -> None:
    stream = write_mixed(tmp_path, [1, 20, 20])
    with pytest.raises(ReadingError, match="source 'a' has no window of 5 ids; leave it out of the plan"):
        run(stream, [Phase(4, {"a": 1, "b": 1})])


@pytest.mark.parametrize("ranks", [1, 2])
def test_batches_of_a_state_alone(stream: TokenStream, ranks: int) -> None:
    windows = WindowDataset(stream, LENGTH, separators=END, shared=False, seed=None)
    for begun in (run(stream, seed=8), WindowStream(windows, 4)):
        list(islice(begun, 2))
        state = json.loads(json.dumps(begun.state_dict()))
        again = [batches_of_state(stream, state, 4, rank=rank, ranks=ranks) for rank in range(ranks)]
        assert joined([next(iter(one)) for one in again]) == next(iter(begun)).tolist()
        assert again[0].documents(-1, rank=0)[0] == begun.documents(1)[0]
