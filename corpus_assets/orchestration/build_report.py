"""What a build reports: while it goes on, and at its end."""

from dataclasses import dataclass, field
from typing import Protocol

from resources.stage.declaration import Stage
from resources.stage.job import Outcome


class Progress(Protocol):
    """Follows a build."""

    def stage(self, stage: Stage, due: int) -> None:
        """A stage starts, with so many partitions to compute."""

    def outcome(self, outcome: Outcome) -> None:
        """One partition is done, or failed."""


@dataclass
class Report:
    """The result of a build. held_back: what closed gates say, each once; their readers are among `waiting`."""

    recomputed: int = 0
    fresh: int = 0
    failed: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    held_back: list[str] = field(default_factory=list)
    failed_checks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    orphans: int = 0
    seconds: float = 0.0
    by_asset: dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether everything that was asked for is fresh now, and every check passed."""
        return not (self.failed or self.waiting or self.failed_checks)

    def add(self, outcome: Outcome) -> None:
        """Count one partition."""
        if outcome.error is not None:
            self.failed.append(f"{outcome.name}: {outcome.error}")
            return
        self.recomputed += 1
        self.by_asset[outcome.asset] = self.by_asset.get(outcome.asset, 0) + 1
