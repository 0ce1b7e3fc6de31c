"""The progress of a build, and the report at its end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from typing_extensions import override

from corpus_assets.orchestration.building.summary import Summary
from corpus_assets.orchestration.building.work import Work
from corpus_assets.orchestration.freshness.causes import Causes
from resources.planning.decisions import Decision, Status
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome

ONE_BUILDER = "{} holds no leases: no other process can build there at the same time"


class Progress(Protocol):
    """Follows a build."""

    def doing(self, what: str) -> None:
        """Called when the build begins work outside stages, such as planning."""
        del what  # By default nobody is told.

    def aside(self, what: str) -> None:
        """Called when other work runs beside the stages, such as compiling; without words when it ends."""
        del what  # By default nobody is told.

    def shares(self, builders: Sequence[str]) -> None:
        """Called when a build begins on a store with other builders. builders: in words."""
        del builders  # By default nobody is told.

    def alone(self, place: str) -> None:
        """Called when a build begins on a store without leases, on which no other can build meanwhile."""
        del place  # By default nobody is told.

    def begins(self, work: Work) -> None:
        """Called once, when there is something to compute. work: kept up to date by the builder."""
        del work  # By default nobody is told.

    def stage(self, stage: Stage, due: int) -> None:
        """Called when a stage starts. due: the number of partitions to compute."""

    def outcome(self, outcome: Outcome) -> None:
        """Called when one partition is done or has failed."""

    def settled(self, stage: Stage) -> None:
        """Called when nothing of a stage that started will be computed any more."""
        del stage  # By default nobody is told.

    def done(self) -> None:
        """Called at the end of a build."""
        return

    def warns(self, what: str) -> None:
        """Called with a fault that does not fail the build: a notice that was not delivered."""
        del what  # By default nobody is told.


class Several(Progress):
    """Passes everything to several followers, in their order."""

    def __init__(self, *followers: Progress) -> None:
        self._followers = followers

    @override
    def doing(self, what: str) -> None:
        for one in self._followers:
            one.doing(what)

    @override
    def aside(self, what: str) -> None:
        for one in self._followers:
            one.aside(what)

    @override
    def shares(self, builders: Sequence[str]) -> None:
        for one in self._followers:
            one.shares(builders)

    @override
    def alone(self, place: str) -> None:
        for one in self._followers:
            one.alone(place)

    @override
    def begins(self, work: Work) -> None:
        for one in self._followers:
            one.begins(work)

    @override
    def stage(self, stage: Stage, due: int) -> None:
        for one in self._followers:
            one.stage(stage, due)

    @override
    def outcome(self, outcome: Outcome) -> None:
        for one in self._followers:
            one.outcome(outcome)

    @override
    def settled(self, stage: Stage) -> None:
        for one in self._followers:
            one.settled(stage)

    @override
    def done(self) -> None:
        for one in self._followers:
            one.done()

    @override
    def warns(self, what: str) -> None:
        for one in self._followers:
            one.warns(what)


@dataclass
class Report:
    """The result of a build. held_back: the reasons of closed gates, each once; their readers are among `waiting`.

    elsewhere: partitions that other builders made meanwhile.
    crashes: errors of steps as a whole, which are among `failed` too.
    examples: rows that were dropped, in words.
    causes: why anything is still not fresh.
    summary: what the corpus holds now.
    changes: `KEY=VALUE` by which the build differed from the configuration file.
    run: the id of the Dagster run that it was reported to; empty if it was reported to none.
    """

    recomputed: int = 0
    elsewhere: int = 0
    fresh: int = 0
    failed: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    held_back: list[str] = field(default_factory=list)
    failed_checks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    orphans: int = 0
    seconds: float = 0.0
    by_asset: dict[str, int] = field(default_factory=dict)
    causes: Causes = field(default_factory=Causes)
    summary: Summary = field(default_factory=Summary)
    changes: tuple[str, ...] = ()
    run: str = ""

    @property
    def ok(self) -> bool:
        """True if everything requested is fresh now, and every check passed."""
        return not (self.failed or self.waiting or self.failed_checks)

    def decided(self, decision: Decision, *, built: bool) -> None:
        """Counts one partition by the decision at the end of the build, in which it was built or not."""
        if decision.status is Status.FRESH:
            self.fresh += not built
        elif built and not decision.blocked:
            words = f"{decision.name}: is stale again ({decision.reason}): it changed while this build ran; build again"
            self.failed.append(words)
            self.crashes.append(words)
        if decision.blocked:
            self.waiting.append(f"{decision.name}: {decision.blocked}")
        if decision.held_back and decision.held_back not in self.held_back:
            self.held_back.append(decision.held_back)

    def add(self, outcome: Outcome) -> None:
        """Counts one partition."""
        if outcome.error is not None:
            self.failed.append(f"{outcome.name}: {outcome.error}")
            return
        if outcome.elsewhere:
            self.elsewhere += 1
            return
        self.recomputed += 1
        self.by_asset[outcome.asset] = self.by_asset.get(outcome.asset, 0) + 1
