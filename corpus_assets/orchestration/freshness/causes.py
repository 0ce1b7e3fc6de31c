"""Why partitions are not fresh: closed gates first, then failures; and which will, or may, be computed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from corpus_assets.orchestration.freshness.failures import failures
from resources.ledger.ledger import Record
from resources.planning.planner import Decision, Planner, Status
from resources.stage.declaration import Stage


class Outlook(StrEnum):
    """What the next build does with a partition that is not fresh."""

    SURE = "will be computed"
    MAY_CHANGE = "may change: something it reads is not fresh"
    HELD_BACK = "waits: held back"


@dataclass
class Cost:
    """Partitions, and the seconds and stored bytes of those with a record, at their last computation."""

    partitions: int = 0
    recorded: int = 0
    bytes: int = 0
    seconds: float = 0.0

    def add(self, record: Record | None) -> None:
        """Counts one partition, with its record if it has one."""
        self.partitions += 1
        if record is not None:
            self.recorded += 1
            self.bytes += sum(file.bytes for file in record.files)
            self.seconds += float(record.statistics.get("seconds") or 0)

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.partitions + other.partitions,
            self.recorded + other.recorded,
            self.bytes + other.bytes,
            self.seconds + other.seconds,
        )


@dataclass
class Folded:
    """Partitions of one stage that share status, outlook and reason."""

    asset: str
    status: Status
    outlook: Outlook
    reason: str
    keys: list[str | None] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)


@dataclass
class Causes:
    """gates: each closed gate in words, with the number of partitions that wait for it. failed: failures in words."""

    gates: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    folded: list[Folded] = field(default_factory=list)

    def cost(self, outlook: Outlook) -> Cost:
        """Returns the last cost of all partitions with an outlook."""
        return sum((one.cost for one in self.folded if one.outlook is outlook), Cost())


def causes(planner: Planner, stages: Iterable[Stage], now: datetime | None = None) -> Causes:
    """Returns why partitions of these stages are not fresh, each cause once, and what waits, folded by stage."""
    now = now or datetime.now(UTC)
    gates = _gates(planner)
    found = Causes()
    groups: dict[tuple[str, Status, Outlook, str], Folded] = {}
    for stage in stages:
        open_ones = [one for one in planner.decisions(stage).values() if one.status is not Status.FRESH]
        if not open_ones:
            continue
        failed = {key: failure.words(now) for key, failure in failures(planner, stage).items()}
        for decision in open_ones:
            gate = gates.get(stage.name, "") if decision.blocked else ""
            if gate:
                found.gates[gate] = found.gates.get(gate, 0) + 1
            if words := failed.get(decision.partition):
                found.failed[decision.name] = words
            outlook, reason = _outlook(decision, gate, words)
            group = (stage.name, decision.status, outlook, reason)
            one = groups.setdefault(group, Folded(*group))
            one.keys.append(decision.partition)
            one.cost.add(planner.records(stage.name).get(decision.partition))
    found.folded = list(groups.values())
    return found


def first_cause(planner: Planner, stages: Iterable[Stage]) -> str:
    """Returns why a build has something to do: the first cause, and the number of others."""
    due = [one for stage in stages for one in planner.decisions(stage).values() if one.reason and not one.blocked]
    if not due:
        return "nothing to compute"
    return f"{due[0].name}: {due[0].reason}" + (f" and {len(due) - 1} more" if len(due) > 1 else "")


def _outlook(decision: Decision, gate: str, failed: str | None) -> tuple[Outlook, str]:
    """Returns the outlook of a partition, and its own reason, without causes shared with others."""
    if gate:
        own = "" if decision.status is Status.WAITING or decision.reason == decision.held_back else decision.reason
        return Outlook.HELD_BACK, own
    if decision.status is Status.WAITING:
        return Outlook.MAY_CHANGE, ""
    return Outlook.SURE, "failed before" if failed else decision.reason


def _gates(planner: Planner) -> Mapping[str, str]:
    """Returns the closed gate that every stage behind one waits for, the first in the order the data flows.

    A gate holds back all partitions of its readers, so it holds back all that is not fresh behind them.
    """
    behind: dict[str, str] = {}
    for stage in planner.graph:
        held = next((one.held_back for one in planner.decisions(stage).values() if one.held_back), "")
        inherited = next((behind[edge.asset] for edge in stage.inputs if edge.asset in behind), "")
        if gate := held or inherited:
            behind[stage.name] = gate
    return behind
