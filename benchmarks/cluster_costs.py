"""The costs of stages in a corpus larger than any measured: from real files, and from runs without text."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.scale_page import FIGURES, TARGET

_STAGES_PAGE = TARGET.with_name("benchmarks.md")
_MEASURABLE = 0.25
"""Fewest CPU seconds of a run that shows how a stage grows."""


@dataclass(frozen=True)
class Costs:
    """Measured costs: ms per MB of text by stage, runs of near-duplicates at several sizes, seconds of the driver."""

    per_mb: Mapping[str, float]
    runs: Sequence[Mapping[str, Any]]
    dispatch: float

    @classmethod
    def published(cls) -> "Costs":
        """Those that are published with this version."""
        page = _STAGES_PAGE.read_text(encoding="utf-8")
        # The rate, since of a stage that takes little the page has only one digit of its ms per MB.
        rows = re.findall(r"^\| (\w+) \| [\d.,]+ \| ([\d.,]+) \| [\d.,]+ \| [\d.,]+ \|$", page, re.MULTILINE)
        driver = re.search(r"^\| driver cpu ms per partition \| ([\d.]+) \|$", page, re.MULTILINE)
        if not rows or driver is None:
            raise SystemExit(f"{_STAGES_PAGE.name}: no table of stages, or no figure of the driver")
        per_mb = {name: 1000 / float(rate.replace(",", "")) for name, rate in rows}
        return cls(per_mb, json.loads(FIGURES.read_text()), float(driver[1]) / 1000)

    def seconds(self, stage: str, documents: float, text_mb: float) -> float:
        """CPU seconds of all partitions of a stage together: the larger of the costs by text and by documents.

        The runs of near-duplicates read no texts and examine no suspicious clusters; on the small corpora of the stages
        nearly all data fits the caches.
        """
        return max(self.by_text(stage, text_mb), self.by_documents(stage, documents))

    def by_text(self, stage: str, text_mb: float) -> float:
        """What the stage cost on real files, per MB of text; 0 if it was not measured on any."""
        return self.per_mb.get(stage, 0.0) * text_mb / 1000

    def by_documents(self, stage: str, documents: float) -> float:
        """On the curve a * documents ** b through the smallest and the largest run of a stage; b is at least 1.

        It is 1 for a stage that took too little in the smallest run for the clock to say more. 0 for one without runs.
        """
        runs = self.runs_of(stage)
        if not runs:
            return 0.0
        (few, least), (many, most) = ((run["documents"], run["stages"][stage]["cpu_s"]) for run in (runs[0], runs[-1]))
        told = many > few and least >= _MEASURABLE
        slope = max(math.log(most / least) / math.log(many / few), 1.0) if told else 1.0
        return float(most * (documents / many) ** slope)

    def runs_of(self, stage: str) -> list[Mapping[str, Any]]:
        """The runs that measured a stage, from the smallest to the largest."""
        return [run for run in self.runs if stage in run["stages"]]

    def stages_with_runs(self) -> list[str]:
        """The stages that any run measured."""
        return list(dict.fromkeys(name for run in self.runs for name in run["stages"]))
