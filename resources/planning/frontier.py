"""The partitions that can be computed now: kept up to date while others are built."""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence

from resources.ledger.ledger import Record
from resources.planning.planner import Decision, Planner, Status
from resources.stage.declaration import Partitioning, Reads, Stage


class Frontier:
    """Hands out partitions that are not fresh and whose inputs are, whichever stage they belong to.

    A partition may start when what it reads is committed, even if other partitions of those stages are not. There are
    two exceptions. What reads a stage with a gate waits until that stage is settled (nothing of it will be computed any
    more), since a gate looks at all partitions. A partition of the whole corpus gets all the memory of its machine: it
    starts only when nothing else runs, and nothing starts while it runs, unless there are other machines.

    planner: the state before the build; its decisions are updated as partitions are committed.
    stages: those to bring up to date, in the order the data flows.
    asked: the only partitions to hand out, whatever the plan says of them; by default all that are not fresh.
    """

    def __init__(self, planner: Planner, stages: Sequence[Stage], asked: Iterable[Decision] | None = None) -> None:
        self._planner = planner
        self._stages = list(stages)
        self._unsettled = {stage.name for stage in stages}
        self._ready: dict[str, deque[Decision]] = {stage.name: deque() for stage in stages}
        self._running: Counter[str] = Counter()
        self._aside: Counter[str] = Counter()
        self._whole = [stage.name for stage in stages if stage.partitioning is Partitioning.NONE]
        self._may_settle = True
        self._tried: set[tuple[str, str | None]] = set()
        if asked is not None:
            self._readers: dict[str, list[Stage]] = {stage.name: [] for stage in planner.graph}
            for decision in asked:
                self._ready[decision.asset].append(decision)
            return
        self._readers = {stage.name: list(planner.graph.readers(stage.name)) for stage in planner.graph}
        for stage in self._stages:
            if self._may_start(stage):
                for decision in list(planner.decisions(stage).values()):
                    self._offer(stage, decision)

    def next(self, *, whole_alone: bool = True) -> Decision | None:
        """Returns a partition to compute now, of the latest stage that has one; None if there is none for now.

        whole_alone: see `Engine`.
        """
        alone = self._whole if whole_alone else ()
        if any(self._running[name] for name in alone):
            return None
        found = self._latest(but=alone) or (None if self.running else self._latest())
        return self._start(found) if found else None

    def _latest(self, but: Collection[str] = ()) -> Stage | None:
        ready = (stage for stage in reversed(self._stages) if self._ready[stage.name])
        return next((stage for stage in ready if stage.name not in but), None)

    def _start(self, stage: Stage) -> Decision:
        self._running[stage.name] += 1
        return self._ready[stage.name].popleft()

    @property
    def running(self) -> int:
        """How many partitions were handed out and are neither done nor set aside."""
        return self._running.total()

    @property
    def waits(self) -> bool:
        """Whether a partition can be computed now, or once those that run are done."""
        return any(self._ready.values())

    def built(self, record: Record) -> None:
        """Notes that a partition which was handed out is committed."""
        self._done(record.asset)
        self.committed(record)

    def committed(self, record: Record) -> None:
        """Notes any record that was committed since the plan was made."""
        stage = self._planner.graph[record.asset]
        self._planner.committed(record)
        self._planner.decide_again(stage, [record.partition])
        self._look_at_readers(stage, [record.partition])

    def failed(self, asset: str, key: str | None, record: Record | None) -> None:
        """Notes that a partition which was handed out failed. record: the one that it still has, if any."""
        self._done(asset)
        if record is None:
            self._planner.forgotten(asset, key)
            self._planner.decide_again(self._planner.graph[asset], [key])

    def _done(self, asset: str) -> None:
        self._running[asset] -= 1
        if not self._running[asset]:
            self._may_settle = True

    def set_aside(self, asset: str) -> None:
        """Notes that a partition which was handed out does not run; its stage waits for `again`."""
        self._running[asset] -= 1
        self._aside[asset] += 1

    def again(self, decision: Decision) -> None:
        """Puts back a partition that was set aside, to be handed out once more, with its present reason."""
        now = self._planner.decisions(self._planner.graph[decision.asset])[decision.partition]
        self._aside[decision.asset] -= 1
        self._ready[decision.asset].append(decision if now.status is Status.FRESH else now)

    def settle(self) -> Iterator[Stage]:
        """Yields the stages of which nothing will be computed any more, each once.

        When the caller asks for the next, the readers of a stage with a gate can start.
        """
        if not self._may_settle:
            return
        self._may_settle = False
        for stage in self._stages:
            if stage.name in self._unsettled and not self._is_busy(stage):
                self._unsettled.discard(stage.name)
                yield stage
                if self._holds_back(stage):
                    self._open(stage)

    def _open(self, stage: Stage) -> None:
        """Lets the readers of a settled stage with a gate start, if the gate is open."""
        before = self._planner.gate(stage)
        self._planner.ask_gates_again()
        changed = self._planner.gate(stage) != before
        for reader in self._readers[stage.name]:
            self._look_at_all(reader, fresh_too=changed)

    def _is_busy(self, stage: Stage) -> bool:
        waits = self._ready[stage.name] or self._running[stage.name] or self._aside[stage.name]
        return bool(waits) or any(edge.asset in self._unsettled for edge in stage.inputs)

    def _holds_back(self, stage: Stage) -> bool:
        """Returns whether what reads a stage waits until the stage is settled.

        A stage without partitions passes on the gates before it.
        """
        return stage.has_gate or not self._planner.partitions(stage)

    def _may_start(self, stage: Stage) -> bool:
        return stage.name in self._ready and not any(
            edge.asset in self._unsettled and self._holds_back(self._planner.graph[edge.asset]) for edge in stage.inputs
        )

    def _look_at_all(self, stage: Stage, *, fresh_too: bool = False) -> None:
        if self._may_start(stage):
            self._look(stage, self._planner.partitions(stage), fresh_too=fresh_too)

    def _look_at_readers(self, stage: Stage, keys: Sequence[str | None]) -> None:
        """Looks at the partitions that read any whose status changed."""
        for reader in self._readers[stage.name]:
            if not self._may_start(reader):
                continue
            edges = [edge for edge in reader.inputs if edge.asset == stage.name]
            if stage.partitioning is not Partitioning.NONE and all(edge.mapping is Reads.SAME for edge in edges):
                self._look(reader, keys)
            elif not any(self._planner.is_in_the_way(edge) for edge in edges):
                self._look_at_all(reader)

    def _look(self, stage: Stage, keys: Iterable[str | None], *, fresh_too: bool = False) -> None:
        known = self._planner.decisions(stage)
        before = {
            key: known[key].status
            for key in keys
            if (fresh_too or known[key].status is not Status.FRESH) and (stage.name, key) not in self._tried
        }
        decisions = self._planner.decide_again(stage, before)
        for decision in decisions:
            self._offer(stage, decision)
        if changed := [one.partition for one in decisions if one.status is not before[one.partition]]:
            self._look_at_readers(stage, changed)

    def _offer(self, stage: Stage, decision: Decision) -> None:
        if decision.status is not Status.FRESH and not decision.blocked:
            self._tried.add((stage.name, decision.partition))
            self._ready[stage.name].append(decision)
