"""How often a document is used, and where in the mix, by its scores."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from corpus_assets.config.selection.mixing import Mix, MixCopies
from corpus_assets.filter.rules.entries import Entries
from corpus_assets.mix.units.dimensions import assets_of, subject_of
from corpus_assets.mix.units.order import Order, Place, order_of
from corpus_assets.mix.units.rows import rows_of
from corpus_assets.mix.units.values import Subject, number
from resources.documents.looked_for import LookedFor
from resources.stage.task import Task

BORDERS = "mix_borders"


@dataclass(frozen=True)
class Copies:
    """`mix.copies`. points: score and copies, ascending by score. most: the cap. missing: without a score."""

    subject: Subject
    points: tuple[tuple[float, float], ...]
    most: float
    missing: float

    def of(self, score: float | None) -> float:
        """Returns how often a document with a score is used; a fraction is the share of such documents used once more.

        Outside of all points it is what the nearest one says.
        """
        return min(self.most, self.missing if score is None else self._between(score))

    def _between(self, score: float) -> float:
        place = bisect_right(self.points, score, key=lambda point: point[0])
        if place == 0:
            return self.points[0][1]
        if place == len(self.points):
            return self.points[-1][1]
        (low, copies), (high, more) = self.points[place - 1 : place + 1]
        return copies + (more - copies) * ((score - low) / (high - low))


class Use(NamedTuple):
    """How often a document is used for each epoch of its source, and its score for the order."""

    times: float = 1.0
    score: float | None = None


@dataclass(frozen=True)
class Uses:
    """How documents are used by scores. copies: how often. order: where; None: by hash alone."""

    copies: Copies | None = None
    order: Order | None = None

    @property
    def subjects(self) -> dict[str, Subject]:
        """What it reads of documents, by its key in corpus.yaml."""
        found = {"mix.copies": self.copies, "mix.order": self.order}
        return {key: one.subject for key, one in found.items() if one is not None}

    def place(self, task: Task) -> Place | None:
        """Returns the function that places uses of documents in the mix; None if hashes alone do."""
        return self.order.place(task.input(BORDERS).json()[self.order.scored.name]) if self.order else None

    def looked_for(self) -> LookedFor:
        """Returns a count of the documents with the scores, so that a build says if none has one."""
        return LookedFor("documents", {f"{key}.by": [one.by] for key, one in self.subjects.items() if one.is_open})

    def of_rows(self, task: Task, looked_for: LookedFor | None = None) -> Iterator[Use]:
        """Yields for each document of a shard how it is used."""
        documents, subjects = task.input("normalized_documents"), [*self.subjects.values()]
        if not subjects:
            yield from (Use() for _ in range(documents.file(".texts.npy").rows or 0))
            return
        attributes = [task.input(asset) for asset in assets_of(subjects)]
        read = [one.read() for one in subjects]
        for row in rows_of(documents, attributes, lines=any(one.reads_documents for one in subjects)):
            scores = [number(function(row)) for function in read]
            if looked_for is not None and looked_for.wants_any:
                there = [name for one in subjects for name in one.names_in(row)] if looked_for.needs_names else ()
                looked_for.add(
                    there, [one.by for one, score in zip(subjects, scores, strict=True) if score is not None]
                )
            yield Use(1.0 if self.copies is None else self.copies.of(scores[0]), scores[-1] if self.order else None)


def copies_of(section: MixCopies | None, entries: Entries) -> Copies | None:
    """Returns what `mix.copies` says; `ConfigError` for an attribute that does not exist."""
    if section is None:
        return None
    points = tuple((score, copies) for score, copies in section.points)
    return Copies(subject_of(section, entries, "mix.copies.by", is_score=True), points, section.most, section.missing)


def uses_of(section: Mix, entries: Entries) -> Uses:
    """Returns how `mix` says that documents are used by scores."""
    return Uses(copies_of(section.copies, entries), order_of(section.order, entries, section.chunks))


def uses_parameters(uses: Uses, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the parameters of how documents are used."""
    keys: Sequence[str] = [key.removeprefix("mix.") for key in uses.subjects]
    return {f"mix.{key}": settings["mix"][key] for key in keys}
