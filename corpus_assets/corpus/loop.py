"""The loop of a build: hands ready partitions to the engine, and handles their outcomes.

`corpus build` runs it over many stages, a step of Dagster over one.
"""

from collections.abc import Collection
from functools import cached_property
from typing import Protocol

from typing_extensions import override

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.elsewhere import Elsewhere
from corpus_assets.corpus.jobs import Jobs
from corpus_assets.corpus.replaced import Replaced
from resources.engine.interface import Queue
from resources.ledger.ledger import partition_name
from resources.ledger.obsolete import Key
from resources.ledger.records import Record
from resources.planning.frontier import Frontier
from resources.planning.planner import Decision, Planner, Status, held_back
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Job, Outcome

BUILT_ELSEWHERE = "built by another builder"
DAMAGED = "a file of it was damaged"


class Follower(Protocol):
    """Is told what a loop does."""

    def begins(self, decision: Decision) -> None:
        """Called when a partition is about to be computed."""
        del decision  # By default nobody is told.

    def running(self, count: int) -> None:
        """Called when the number of running partitions changes."""
        del count  # By default nobody is told.

    def done(self, outcome: Outcome, why: str) -> None:
        """Called when a partition is done or has failed, before the planner knows of it.

        why: the reason for which it was computed. It may be of another asset: a damaged input that is rebuilt.
        """

    def waits(self, words: str) -> None:
        """Called when only partitions of other builders are left. words: the partition and builder it waits for."""
        del words  # By default nobody is told.

    def settled(self, stage: Stage) -> None:
        """Called when nothing of a stage will be computed any more, before partitions behind its gate can start."""
        del stage  # By default nobody is told.


class _Mending(Follower):
    """Reports partitions that are rebuilt on the way to the follower; their stages have not begun."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower

    @override
    def done(self, outcome: Outcome, why: str) -> None:
        self._follower.done(outcome, why)

    @override
    def waits(self, words: str) -> None:
        self._follower.waits(words)


class Loop:
    """Computes and commits the partitions that a frontier hands out, and keeps the planner up to date.

    Partitions that other builders hold are waited for. A partition that failed because of a damaged input is computed
    again after that input was rebuilt; if it finds the same damage again, it has failed.

    built: partitions (asset, key) that are committed.
    damaged: partitions with a damaged file that a job found; their records were removed, or they were rebuilt.
    gone: whether records of any were removed.
    """

    def __init__(
        self, corpus: Corpus, planner: Planner, frontier: Frontier, follower: Follower, replaced: Replaced
    ) -> None:
        self._corpus = corpus
        self._planner = planner
        self._frontier = frontier
        self._follower = follower
        self._replaced = replaced
        self._elsewhere = Elsewhere(planner)
        self._begun: dict[Key, Decision] = {}
        self._held: dict[Key, Outcome] = {}
        self._waited_for = ""
        self.built: set[Key] = set()
        self.damaged: set[Key] = set()
        self.gone = False

    @cached_property
    def _jobs(self) -> Jobs:
        return self._corpus.jobs(self._planner)

    def run(self) -> None:
        """Computes everything that can be computed."""
        while self._frontier.waits or len(self._elsewhere):
            for outcome in self._corpus.engine.run(Queue(self._next, self._elsewhere.pause)):
                self._take(outcome)
                self.settle()
            self._lose()
            self._mend()
            self.settle()
            if not self._frontier.waits:
                self._wait()
                self._ask_again()

    def settle(self) -> None:
        """Reports stages of which nothing will be computed any more."""
        for stage in self._frontier.settle():
            if computed := sum(asset == stage.name for asset, _ in self.built):
                self._corpus.ledger.save(stage.name, computed)
            self._follower.settled(stage)

    def _next(self) -> Job | None:
        whole_alone = self._corpus.engine.whole_alone
        decision = self._frontier.next(whole_alone=whole_alone)
        if decision is None and self._ask_again():
            decision = self._frontier.next(whole_alone=whole_alone)
        if decision is None:
            return None
        key = (decision.asset, decision.partition)
        self._follower.begins(decision)
        self._begun[key] = decision
        self._follower.running(self._frontier.running)
        return self._jobs.job(self._planner.graph[decision.asset], decision.partition, self._elsewhere.expired(key))

    def _ask_again(self) -> bool:
        """Tries again the partitions that other builders held; returns whether there were any."""
        keys = list(self._elsewhere.due())
        for key in keys:
            self._frontier.again(self._begun.pop(key))
        return bool(keys)

    def _wait(self) -> None:
        """Waits for other builders, and reports once for which partition."""
        words = self._elsewhere.words()
        if words and words != self._waited_for:
            self._waited_for = words
            self._follower.waits(words)
        self._elsewhere.wait()

    def _take(self, outcome: Outcome) -> None:
        """Handles an outcome.

        A failure because of newly found damage of an input is held until all else is done. Partitions that another
        builder has just made count as built.
        """
        if self._elsewhere.takes(outcome):
            self._frontier.set_aside(outcome.asset)
            self._follower.running(self._frontier.running)
        elif outcome.damaged is not None and outcome.damaged not in self.damaged:
            self._held[outcome.asset, outcome.partition] = outcome
        else:
            self._conclude(outcome)

    def _conclude(self, outcome: Outcome) -> None:
        key = (outcome.asset, outcome.partition)
        decision = self._begun.pop(key)
        if outcome.record is not None:
            self._note_commit(outcome)
        self._follower.done(outcome, BUILT_ELSEWHERE if outcome.elsewhere else decision.reason)
        if outcome.record is not None:
            self._frontier.built(outcome.record)
        else:
            self._frontier.failed(*key, self._corpus.ledger.known(*key))
        self._follower.running(self._frontier.running)

    def _note_commit(self, outcome: Outcome) -> None:
        self.built.add((outcome.asset, outcome.partition))
        self._replaced.note(outcome, self._planner.records(outcome.asset).get(outcome.partition))
        for removed in outcome.gave_way:
            self._gave_way(removed)

    def _gave_way(self, removed: Record) -> None:
        """Notes a record that was removed because another partition took its paths."""
        known = self._planner.records(removed.asset).get(removed.partition)
        if known is not None and known.files == removed.files:  # It may have been rebuilt meanwhile.
            self._planner.forgotten(removed.asset, removed.partition)

    def _lose(self) -> None:
        """Counts partitions as failed for which an engine gave no outcome."""
        for key, decision in list(self._begun.items()):
            if key not in self._held and key not in self._elsewhere:
                self._conclude(Outcome(decision.name, *key, error="the engine lost it"))

    def _mend(self) -> None:
        """Rebuilds the damaged inputs of failed partitions, and lets these start once more."""
        held, self._held = self._held, {}
        damaged = dict.fromkeys(outcome.damaged for outcome in held.values() if outcome.damaged)
        self.damaged.update(damaged)
        # Not before: other jobs would only fail because their input does not exist.
        for key in damaged:
            self._corpus.ledger.forget_damaged(*key, self._corpus.builder)
        mended = self._made_again(damaged)
        for key, outcome in held.items():
            if outcome.damaged in mended:
                self._frontier.set_aside(outcome.asset)
                self._frontier.again(self._begun.pop(key))
            else:
                self._conclude(outcome)

    def _made_again(self, damaged: Collection[Key]) -> set[Key]:
        """Rebuilds damaged partitions in the order in which they read each other; returns those that it rebuilt."""
        made = set[Key]()
        for stage in self._planner.graph:
            keys = [key for asset, key in damaged if asset == stage.name]
            if keys:
                made |= self._computed_again(stage, keys)
            for key in keys:
                if (stage.name, key) in made:
                    self._frontier.committed(self._planner.records(stage.name)[key])
                elif self._corpus.ledger.known(stage.name, key) is None:
                    self._planner.forgotten(stage.name, key)
                    self._planner.decide_again(stage, [key])
                    self.gone = True
        return made

    def _computed_again(self, stage: Stage, keys: Collection[str | None]) -> set[Key]:
        due = [
            Decision(stage.name, key, Status.MISSING, DAMAGED)
            for key in keys
            if not missing_input(self._planner, stage, key)
        ]
        frontier = Frontier(self._planner, [stage], due)
        loop = Loop(self._corpus, self._planner, frontier, _Mending(self._follower), self._replaced)
        loop.run()
        self.built |= loop.built
        self.gone |= loop.gone
        return loop.built


def missing_input(planner: Planner, stage: Stage, key: str | None) -> str:
    """Returns in words which input has no record, or is held back by a gate; empty if all can be read.

    A stale input can be read, since it still has content.
    """
    for edge in stage.inputs:
        records = planner.records(edge.asset)
        for read in planner.keys_read(edge, key):
            if read not in records:
                return f"{partition_name(edge.asset, read)} does not exist yet"
        if fault := planner.gate(planner.graph[edge.asset]):
            return held_back(edge.asset, fault)
    return ""
