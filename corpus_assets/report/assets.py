"""The stage of the report, which reads every other stage."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from typing_extensions import override

from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.report.report import CONFIGURATION, STAGES, report
from resources.stage.declaration import Input, Partitioning, Stage, every, same
from resources.stage.hooks import Hooks, Values

NAME = "report"
_OF_THE_MACHINE = {"engine", "storage", "notices"}
_COMPARED = "components"
_NEWER = ("origins", "classifiers", "language_models")
"""Configurations without these have the recipes that they had."""


def report_stages(config: CorpusConfig, stages: Sequence[Stage]) -> list[Stage]:
    """Returns the stage of the report. stages: all others; none if there is nothing but a list of raw files."""
    unused = {name for name in _NEWER if not getattr(config, name)}
    values = config.model_dump(mode="json", exclude=_OF_THE_MACHINE | unused)
    versions = {stage.name: stage.code_version for stage in stages}
    return [
        Stage(
            name=NAME,
            group=NAME,
            unit_in="partitions",
            unit_out="pages",
            description="One page on the whole corpus: documents, tokens, losses, duplicates, and their origins.",
            partitioning=Partitioning.NONE,
            compute=partial(report, assets=tuple(versions), documents=_documents(stages)),
            code_version="3",
            io="records",
            inputs=tuple(map(_edge, stages)),
            hooks=ReportHooks(values, versions),
            kinds=("html",),
        )
    ]


@dataclass(frozen=True)
class ReportHooks(Hooks):
    """The hooks of the report. configuration: as written, with defaults; paths are those of corpus.yaml.

    versions: of the code of all stages.
    """

    configuration: Values
    versions: Values

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {CONFIGURATION: self.configuration, STAGES: self.versions}


def _edge(stage: Stage) -> Input:
    return same(stage.name) if stage.partitioning is Partitioning.NONE else every(stage.name, folded=True)


def _documents(stages: Sequence[Stage]) -> str:
    """Returns the asset whose texts are compared for duplicates: normalized documents, or what the filter left."""
    read = [edge for stage in stages if stage.name == _COMPARED for edge in stage.inputs]
    return next((edge.asset for edge in read if "normalized_documents" in edge.names), "")
