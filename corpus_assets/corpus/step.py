"""Partitions of one stage to compute, as a step of Dagster does: a build over a frontier of that stage alone."""

from collections.abc import Iterable

from typing_extensions import override

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.loop import Follower, Loop, missing_input
from corpus_assets.corpus.replaced import replaced_files
from corpus_assets.corpus.restamping import restamp
from resources.ledger.ledger import Record, partition_name
from resources.ledger.obsolete import Key
from resources.planning.frontier import Frontier
from resources.planning.planner import Status
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome


class Step(Follower):
    """Partitions of one stage to compute: all or the given keys, also from stale inputs.

    due: those to compute.
    fresh: those that need nothing.
    blocked: those whose inputs do not exist, with the reason.
    unknown: keys that the stage does not have.
    planner: the present state, kept up to date.
    outcomes: of everything that was computed, in order, including rebuilt damaged inputs.
    why: the reasons for which partitions were computed, by asset and key.
    damaged: partitions (asset, key) with a damaged file that a job found; their records were removed, or they were
        rebuilt.
    """

    def __init__(
        self, corpus: Corpus, stage: Stage, keys: Iterable[str | None] | None = None, *, force: bool = False
    ) -> None:
        self.stage = stage
        self.planner = corpus.planner()
        self.outcomes: list[Outcome] = []
        self.why: dict[Key, str] = {}
        self.damaged: set[Key] = set()
        self._corpus = corpus
        self._follower: Follower | None = None
        decisions = self.planner.decisions(stage)
        wanted = list(decisions) if keys is None else list(keys)
        self.unknown = [key for key in wanted if key not in decisions]
        chosen = [decisions[key] for key in wanted if key in decisions]
        self.fresh = [decision for decision in chosen if decision.status is Status.FRESH and not force]
        due = [decision for decision in chosen if decision.status is not Status.FRESH or force]
        missing = {decision.partition: missing_input(self.planner, stage, decision.partition) for decision in due}
        self.blocked = {key: why for key, why in missing.items() if why}
        self.due = [decision for decision in due if decision.partition not in self.blocked]

    def run(self, follower: Follower | None = None) -> list[Outcome]:
        """Computes and commits all due partitions; returns the outcomes."""
        self._follower = follower
        with self._corpus.building(), replaced_files(self._corpus) as replaced:
            restamp(self.planner, self.fresh, self._corpus.builder)
            loop = Loop(self._corpus, self.planner, Frontier(self.planner, [self.stage], self.due), self, replaced)
            self.damaged = loop.damaged
            loop.run()
        return self.outcomes

    @override
    def done(self, outcome: Outcome, why: str) -> None:
        self.outcomes.append(outcome)
        self.why[outcome.asset, outcome.partition] = why
        if self._follower is not None:
            self._follower.done(outcome, why)

    @override
    def waits(self, words: str) -> None:
        if self._follower is not None:
            self._follower.waits(words)

    def failures(self) -> list[str]:
        """Returns one line for every partition that failed, is blocked or does not exist."""
        failed = [f"{o.name}: {o.error}" for o in self.outcomes if o.error is not None]
        waiting = [f"{partition_name(self.stage.name, key)}: {why}" for key, why in self.blocked.items()]
        unknown = [f"{partition_name(self.stage.name, key)}: no such partition now" for key in self.unknown]
        return failed + waiting + unknown

    def computed(self, stage: Stage) -> dict[str | None, Record]:
        """Returns the records of the partitions of a stage that were computed: of this one, or of a damaged input."""
        new = (o.partition for o in self.outcomes if o.asset == stage.name and o.error is None)
        known = self.planner.records(stage.name)
        return {key: known[key] for key in new if key in known}

    def records(self) -> dict[str | None, Record]:
        """Returns the records of the partitions this step was asked for, newly computed or found fresh."""
        known = self.planner.records(self.stage.name)
        fresh = {one.partition: known[one.partition] for one in self.fresh if one.partition in known}
        return fresh | self.computed(self.stage)
