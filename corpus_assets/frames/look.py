"""One look at a corpus: what is built of it now, as all frames of that moment see it."""

from collections.abc import Iterator
from typing import NamedTuple

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.report.assets import NAME as REPORT
from corpus_assets.report.records import Built
from resources.planning.planner import Planner
from resources.stage.declaration import Stage
from resources.stage.partition import Partition


class Look(NamedTuple):
    """A corpus, and its state at one moment."""

    corpus: Corpus
    planner: Planner

    @property
    def stages(self) -> list[Stage]:
        """All stages, in the order the data flows."""
        return list(self.corpus.graph)

    @property
    def assets(self) -> list[str]:
        """Their names."""
        return [stage.name for stage in self.stages]

    @property
    def sources(self) -> list[str]:
        """What a raw file may belong to: sources in configured order, then datasets and benchmarks with files."""
        settings = self.corpus.settings
        own = (entry["name"] for entry in (*settings.inputs(), *settings.benchmarks()))
        return list(dict.fromkeys([*settings.sources(), *own]))

    def partitions(self, stage: Stage) -> Iterator[Partition]:
        """Yields the built ones of the partitions that a stage should have, in canonical order."""
        for record in self.planner.built(stage):
            yield Partition(self.corpus.storage, record, self.planner.shard(record.partition))

    def built(self) -> Built:
        """Returns the built partitions of all stages but the report, as the report reads them."""
        return {stage.name: list(self.partitions(stage)) for stage in self.stages if stage.name != REPORT}

    def expected(self, asset: str) -> int:
        """Returns how many partitions an asset should have."""
        return len(self.planner.partitions(self.corpus.graph[asset]))
