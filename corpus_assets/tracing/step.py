"""The steps of a document's way through the corpus, one for each stage."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from corpus_assets.tracing.origins import Origin

Status = Literal["here", "changed", "moved", "dropped", "unknown"]
"""here: the stage has it unchanged. changed: it has another text or fewer fields. moved: it is in another place from
here on. dropped: no later stage has it. unknown: not built, or not recorded.
"""


@dataclass(frozen=True)
class Step:
    """The result for a document in one stage.

    stage, partition: asset and key of what was looked at.
    words: a sentence for a person.
    reason: the word by which the partition's record counts what was dropped for this.
    row: number of the document in the partition, from 0.
    file: the stored file.
    copy: which use of the document, from 0, where it may be used several times.
    stale: why the partition is not up to date; empty if it is.
    details: numbers and names, as the stage recorded them.
        other: the document that is kept instead, or that has the same text.
    """

    stage: str
    partition: str | None
    status: Status
    words: str
    reason: str | None = None
    row: int | None = None
    file: str | None = None
    copy: int | None = None
    stale: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    other: Origin | None = None


@dataclass(frozen=True)
class Way:
    """The way of a row of a raw file. number: of its document among those of its shard, from 0; None if it gave none.

    steps: in the order of the stages; each use of a document by `epochs` has its own from the mix on.
    """

    origin: Origin
    number: int | None
    steps: list[Step]

    def ends(self) -> Iterator[Step]:
        """Yields the steps at which a document, or a use of it, was dropped."""
        return (step for step in self.steps if step.status == "dropped")

    def reached(self) -> list[str]:
        """Returns the assets whose files for trainers hold the document, or a use of it."""
        here = (step.stage for step in self.steps if step.status == "here")
        return list(dict.fromkeys(stage for stage in here if stage.endswith(("_tokens", "_texts"))))

    def unknown(self) -> dict[str, str]:
        """Returns the assets that may or may not hold the document, and why this is unknown.

        Token files that hold one use of it are not among them, even if another use is unknown.
        """
        reached = self.reached()
        steps = (step for step in self.steps[1:] if step.status == "unknown" and step.stage not in reached)
        return {step.stage: step.words for step in steps}
