"""The loop of a build beside another builder, which holds partitions; nothing is reported to Dagster."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import cast
from unittest.mock import MagicMock

import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.elsewhere import Elsewhere
from corpus_assets.orchestration.building.builder import Builder
from corpus_assets.orchestration.building.report import Progress
from corpus_assets.orchestration.building.runner import Runner
from resources.ledger.ledger import lease_name
from resources.planning.decisions import Status
from resources.planning.frontier import Frontier
from resources.stage.jobs.job import Outcome
from resources.stage.task import Task
from resources.storage.holders import Process
from resources.storage.leases import Held
from tests.build.conftest import built_once, work
from tests.build.small import Work, opened, reported_on
from tests.integrity.test_damaged_files import ONE, flip, path_of
from tests.orchestration.silent import Silent

__all__ = ["built_once", "work"]

Key = tuple[str, str | None]
OTHER = Process(1, "elsewhere", "2026-01-01T00:00:00+00:00", "", "0" * 16)
HELD, ALONE = "validation_tokens", "train_token_params"


class Built(Silent):
    """Remembers the partitions in the order they were built."""

    def __init__(self) -> None:
        self.names: list[Key] = []

    def outcome(self, outcome: Outcome) -> None:
        assert outcome.error is None, outcome.error
        self.names.append((outcome.asset, outcome.partition))


@pytest.fixture
def joined(work: Work) -> Iterator[Corpus]:
    corpus = opened(work.folder)
    with corpus.building():
        yield corpus
    corpus.close()


def forgotten(corpus: Corpus, asset: str) -> str | None:
    """Make one partition of an asset due; its key."""
    key = min(corpus.ledger.records(asset), key=str)
    corpus.ledger.forget(asset, key)
    return key


def held_by_another(corpus: Corpus, name: Key) -> Callable[[], None]:
    """Hold the lease of a partition; returns what gives it back."""
    lease = corpus.storage.lease(lease_name(*name), OTHER)
    assert not isinstance(lease, Held)
    return lease.release


def builder(corpus: Corpus, follows: Progress) -> Builder:
    planner = corpus.planner()
    stages = reported_on(corpus.graph)
    return Builder(corpus, planner, stages, follows, lambda _: cast(Runner, MagicMock()), checks=False)


def test_a_partition_of_the_whole_corpus_starts_while_another_builder_holds_something_else(
    joined: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, alone = (HELD, forgotten(joined, HELD)), (ALONE, forgotten(joined, ALONE))
    follows, pauses = Built(), list[list[Key]]()
    with ExitStack() as lease:
        lease.callback(held_by_another(joined, held))
        build = builder(joined, follows)

        def sleep(_: float) -> None:
            pauses.append(list(follows.names))
            lease.close()

        monkeypatch.setattr("corpus_assets.corpus.loop.Elsewhere", partial(Elsewhere, sleep=sleep))
        build.run()
        build.finish()
    assert pauses[:1] == [[alone]]
    assert follows.names[:2] == [alone, held]
    assert build.report.failed == []


def test_nothing_starts_beside_a_partition_of_the_whole_corpus(joined: Corpus) -> None:
    forgotten(joined, HELD)
    forgotten(joined, ALONE)
    planner = joined.planner()
    frontier = Frontier(planner, reported_on(joined.graph))
    first = frontier.next()
    assert first is not None
    frontier.set_aside(first.asset)
    whole = frontier.next()
    assert (first.asset, whole and whole.asset) == (HELD, ALONE)
    frontier.again(first)
    assert frontier.next() is None
    frontier.failed(ALONE, None, None)
    assert frontier.next() == first
    assert frontier.running == 1


def test_with_other_machines_one_of_the_whole_corpus_runs_beside_others(joined: Corpus) -> None:
    forgotten(joined, HELD)
    forgotten(joined, ALONE)
    frontier = Frontier(joined.planner(), reported_on(joined.graph))
    given = list(iter(lambda: frontier.next(whole_alone=False), None))
    assert {decision.asset for decision in given} >= {HELD, ALONE}
    assert frontier.running == len(given)


def fails(_: Task) -> None:
    raise ValueError("no space left")


def test_a_damaged_partition_that_cannot_be_made_again_is_fresh_no_more_nor_is_what_reads_it(joined: Corpus) -> None:
    flip(joined, path_of(joined, "normalized_documents", ONE, ".jsonl.gz"), random.Random(2))
    joined.ledger.forget("minhashes", ONE)
    joined.graph.stages["normalized_documents"] = replace(joined.graph["normalized_documents"], compute=fails)
    build = builder(joined, Silent())
    build.run()
    found = build.finish()
    assert [line.partition(": ")[0] for line in build.report.failed] == [
        f"normalized_documents/{ONE}",
        f"minhashes/{ONE}",
    ]
    planner = joined.planner()
    for stage in build._stages:
        decisions = list(planner.decisions(stage).values())
        fresh = sum(one.status is Status.FRESH for one in decisions)
        assert found[stage.name].counts.get("fresh", 0) == fresh, stage.name
        assert found[stage.name].fresh == (fresh == len(decisions)), stage.name
    assert not found["normalized_documents"].fresh
    assert not found["short_documents"].fresh
