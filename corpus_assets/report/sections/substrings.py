"""Repeated substrings: a table by source, and the most frequent boilerplate."""

from msgspec import UNSET

from corpus_assets.report.model import Model, Substrings
from corpus_assets.report.sections.blocks import MOST_ROWS, Heading, Section, Table, largest


def substrings(model: Model) -> Section:
    """Returns all about repeated substrings, entry by entry; empty without such an entry."""
    section = Section("substrings", "Repeated substrings")
    for found in [] if model.substrings is UNSET else model.substrings:
        section.blocks += [Heading(f"{found.name}: {found.min_length} or more"), _by_source(found)]
        if found.boilerplate is not None:
            section.blocks.append(_boilerplate(found))
    return section


def _by_source(found: Substrings) -> Table:
    shown, others = largest(found.sources.items(), lambda one: one[1].get("characters", 0), MOST_ROWS)
    keys = ("rows_out", "spans", "characters", "flagged")
    rows = [[source, *(numbers.get(key, 0) for key in keys)] for source, numbers in shown]
    columns = [("source", "text"), ("documents", "count"), ("marked pieces", "count")]
    columns += [("marked code points", "count"), ("flagged documents", "count")]
    return Table("Repeated pieces by source", columns, rows, left_out=len(others))


def _boilerplate(found: Substrings) -> Table:
    unit = found.min_length.partition(" ")[2]
    columns = [("documents", "count"), (unit, "count"), ("first in source", "text"), ("document", "text")]
    rows = [[one.documents, one.length, one.source, one.id, one.text] for one in found.listed]
    title = f"Boilerplate: pieces in more than {found.boilerplate:,} documents, the most frequent ones"
    return Table(title, [*columns, ("how it begins", "text")], rows)
