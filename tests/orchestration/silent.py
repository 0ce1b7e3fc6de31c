"""A progress of builds that says nothing."""

from corpus_assets.orchestration.build_report import Progress
from resources.stage.declaration import Stage
from resources.stage.job import Outcome


class Silent(Progress):
    """Ignores the progress of a build."""

    def stage(self, stage: Stage, due: int) -> None: ...

    def outcome(self, outcome: Outcome) -> None: ...
