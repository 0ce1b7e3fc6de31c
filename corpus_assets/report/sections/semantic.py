"""Documents that mean the same: a table by source, and how near they are to those that are kept."""

from msgspec import UNSET

from corpus_assets.report.model import Model, Semantic
from corpus_assets.report.sections.blocks import MOST_ROWS, Heading, Section, Table, largest


def semantic(model: Model) -> Section:
    """Returns all about documents that mean the same, entry by entry; empty without such an entry."""
    section = Section("semantic", "Documents that mean the same")
    for found in [] if model.semantic is UNSET else model.semantic:
        section.blocks += [Heading(f"{found.name}: cosine {found.threshold} or more"), _by_source(found)]
        section.blocks.append(_by_score(found))
    return section


def _by_source(found: Semantic) -> Table:
    shown, others = largest(found.sources.items(), lambda one: one[1].get("flagged", 0), MOST_ROWS)
    rows = [
        [source, *(numbers.get(key, 0) for key in ("rows_out", "compared", "flagged"))] for source, numbers in shown
    ]
    columns = [("source", "text"), ("documents", "count"), ("compared", "count"), ("marked documents", "count")]
    return Table("Documents that mean the same, by source", columns, rows, left_out=len(others))


def _by_score(found: Semantic) -> Table:
    rows = [[low, count] for low, count in found.scores.items()]
    return Table(
        "How near they are to the document that is kept", [("cosine from", "text"), ("documents", "count")], rows
    )
