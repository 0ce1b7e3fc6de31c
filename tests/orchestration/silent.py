"""A progress of builds that says nothing."""

from corpus_assets.orchestration.building.report import Progress
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome


class Silent(Progress):
    """Ignores the progress of a build."""

    def stage(self, stage: Stage, due: int) -> None: ...

    def outcome(self, outcome: Outcome) -> None: ...
