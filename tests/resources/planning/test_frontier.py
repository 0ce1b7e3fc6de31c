"""The order in which partitions start: the latest stage first, and nothing that reads a stage with a gate too early."""

from collections import deque
from collections.abc import Iterator

import pytest

from corpus_assets.corpus.corpus import Corpus
from resources.planning.frontier import Frontier
from resources.planning.planner import Planner
from resources.stage.declaration import Partitioning, Stage
from tests.build.conftest import built_once, work
from tests.build.small import Key, Work, live_records, opened, reported_on

__all__ = ["built_once", "work"]

BARRIERS = {"normalized_documents", "components", "mixed_pass1", "holdout_selection", "train", "decontaminated_train"}
Events = list[tuple[str, Key]]


@pytest.fixture
def corpus(work: Work) -> Iterator[Corpus]:
    found = opened(work.folder)
    yield found
    found.close()


def played(corpus: Corpus, at_once: int) -> tuple[Planner, Events]:
    """A build from nothing of which every partition is as it was built before; what starts and what is done, in order.

    at_once: partitions that run at a time; the one that began first is done first.
    """
    records = live_records(corpus)
    for key in records:
        corpus.ledger.forget(*key)
    planner = corpus.planner()
    frontier = Frontier(planner, reported_on(corpus.graph))
    running: deque[Key] = deque()
    events: Events = []
    while True:
        for _ in frontier.settle():
            pass
        while len(running) < at_once and (decision := frontier.next()) is not None:
            running.append((decision.asset, decision.partition))
            events.append(("start", running[-1]))
        if not running:
            return planner, events
        done = running.popleft()
        events.append(("done", done))
        frontier.built(records[done])


def started(events: Events, *assets: str) -> list[Key]:
    return [key for what, key in events if what == "start" and key[0] in assets]


def test_everything_starts_once(corpus: Corpus) -> None:
    planner, events = played(corpus, 3)
    stages = reported_on(corpus.graph)
    expected = [(stage.name, key) for stage in stages for key in planner.partitions(stage)]
    assert sorted(started(events, *(stage.name for stage in stages)), key=str) == sorted(expected, key=str)


def test_the_stages_with_a_gate_are_those_of_the_docs(corpus: Corpus) -> None:
    assert {stage.name for stage in corpus.graph if stage.has_gate} == BARRIERS


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_a_stage_with_a_gate_is_done_before_any_of_its_readers_starts(corpus: Corpus, at_once: int) -> None:
    planner, events = played(corpus, at_once)
    places = {event: number for number, event in enumerate(events)}
    for name in BARRIERS:
        last = max(places["done", (name, key)] for key in planner.partitions(corpus.graph[name]))
        readers = {reader.name for reader in planner.graph.readers(name)} & {asset for _, (asset, _) in events}
        assert readers
        assert all(places["start", key] > last for key in started(events, *readers))


def test_between_gates_a_shard_goes_on_before_the_last_shard_of_the_stage_before(corpus: Corpus) -> None:
    planner, events = played(corpus, 1)
    shards = planner.partitions(corpus.graph["raw_source"])
    chain = started(events, "raw_source", "normalized_documents")
    assert chain == [(asset, key) for key in shards for asset in ("raw_source", "normalized_documents")]
    for first, then in (("short_documents", "band_keys"), ("holdout", "validation")):
        order = [asset for asset, _ in started(events, first, then)]
        assert order.index(then) < len(order) - 1 - order[::-1].index(first), (first, then)


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_of_all_that_can_start_the_latest_stage_does(corpus: Corpus, at_once: int) -> None:
    """Told from the events alone: nothing of a later stage that starts afterwards could have started then."""
    planner, events = played(corpus, at_once)
    order = {stage.name: number for number, stage in enumerate(corpus.graph)}
    done_at = {key: number for number, (what, key) in enumerate(events) if what == "done"}
    starts = [(number, key) for number, (what, key) in enumerate(events) if what == "start"]
    shared = [(number, key) for number, key in starts if not _is_whole(corpus.graph[key[0]])]
    for number, (asset, _) in shared:
        for later, key in shared:
            if later > number and order[key[0]] > order[asset]:
                assert _could_start_at(planner, key, done_at) > number, f"{key} waited for {asset}"


def _is_whole(stage: Stage) -> bool:
    return stage.partitioning is Partitioning.NONE


def _could_start_at(planner: Planner, key: Key, done_at: dict[Key, int]) -> int:
    """The event after which all that a partition reads was done, and all of what a gate must have seen."""
    last = -1
    for edge in planner.graph[key[0]].inputs:
        read = planner.graph[edge.asset]
        keys = planner.partitions(read) if read.has_gate else planner.keys_read(edge, key[1])
        last = max([last, *(done_at[read.name, one] for one in keys)])
    return last
