"""How often a document is used by its score: a function of straight lines between points, with a cap."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from corpus_assets.config.selection.mixing import MixCopies
from corpus_assets.filter.rules.entries import Entries
from corpus_assets.mix.units.dimensions import subject_of
from corpus_assets.mix.units.rows import rows_of
from corpus_assets.mix.units.values import Subject, number
from resources.documents.looked_for import LookedFor
from resources.stage.task import Task


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


def copies_of(section: MixCopies | None, entries: Entries) -> Copies | None:
    """Returns what `mix.copies` says; `ConfigError` for an attribute that does not exist."""
    if section is None:
        return None
    points = tuple((score, copies) for score, copies in section.points)
    return Copies(subject_of(section, entries, "mix.copies.by", is_score=True), points, section.most, section.missing)


def copies_by_row(task: Task, copies: Copies | None, looked_for: LookedFor | None = None) -> Iterator[float]:
    """Yields for each document of a shard how often it is used, its source's epochs aside."""
    documents = task.input("normalized_documents")
    if copies is None:
        yield from (1.0 for _ in range(documents.file(".texts.npy").rows or 0))
        return
    subject = copies.subject
    attributes = [task.input(subject.asset)] if subject.asset is not None else []
    read = subject.read()
    for row in rows_of(documents, attributes, lines=subject.reads_documents):
        value = number(read(row))
        if looked_for is not None:
            looked_for.add(
                subject.names_in(row) if looked_for.needs_names else (), [] if value is None else [subject.by]
            )
        yield copies.of(value)
