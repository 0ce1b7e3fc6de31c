"""Near-duplicates: share of each source, who duplicates whom, sizes of clusters, and texts side by side."""

from corpus_assets import numbers
from corpus_assets.html import charts
from corpus_assets.report.audit.result import Result
from corpus_assets.report.audit.shown import COLUMNS, drawings, table
from corpus_assets.report.model import Duplicates, Model
from corpus_assets.report.sections.blocks import (
    MOST_ROWS,
    Charts,
    Clusters,
    Heading,
    Note,
    Section,
    Table,
    Tiles,
    largest,
)
from corpus_assets.report.sections.flow import NOT_COUNTED, words

_MATRIX = 16


def duplicates(model: Model, audit: Result | None = None) -> Section:
    """Returns all about near-duplicates. audit: of removed documents."""
    section = Section("duplicates", "Duplicates")
    found = model.duplicates
    if found is None:
        section.blocks.append(Note("Documents were not compared with each other."))
        return section
    section.blocks += [_tiles(found), _sources(found), *map(Note, found.by_template)]
    if found.templates is not None:
        rows = [[source, count] for source, count in found.templates.items()]
        title = "Shingles left out, by source: its template"
        section.blocks.append(Table(title, [("source", "text"), ("shingles", "count")], rows))
    drawn = []
    if found.sizes:
        drawn.append(charts.columns("Clusters by their number of documents", dict(found.sizes)))
    elif found.sizes is None:
        section.blocks.append(Note(f"Sizes of clusters: {NOT_COUNTED}."))
    if found.shares:
        title = "Documents that stand in the one kept, by the share of their shingles that it has, in per cent"
        drawn.append(charts.columns(title, dict(found.shares)))
    section.blocks += [Charts(drawn)] if drawn else []
    section.blocks.append(_matrix(found))
    section.blocks += _judged(audit) if audit else []
    if found.samples:
        note = (
            "The largest clusters and some by chance, with some of their documents. A coloured piece is in one of the "
            "two texts only: the kept one is compared with the first beside it, the others with the kept one."
        )
        section.blocks += [Heading("Clusters, and the documents kept from them"), Note(note), Clusters(found.samples)]
    return section


def _judged(audit: Result) -> list[Heading | Note | Table | Charts]:
    note = (
        f"{audit.judged:,} removed documents were judged by people. Shares are of those whose text differs from that "
        "of the one kept, with the ends of 95 % confidence intervals."
    )
    rows, drawn = table(audit), drawings(audit)
    found: list[Heading | Note | Table | Charts] = [Heading("Was it right?"), Note(note)]
    return [*found, Table("Judged removals by source", COLUMNS, rows), *([Charts(drawn)] if drawn else [])]


def _tiles(found: Duplicates) -> Tiles:
    tiles = [
        ("Clusters", numbers.count(found.clusters), "sets of near-duplicates"),
        ("Documents left out", numbers.count(found.removed), "all of a cluster but the one that is kept"),
        ("Largest cluster", numbers.count(found.largest), "documents"),
    ]
    names = {
        "split_clusters": ("Split by the guard", "clusters whose documents were too unlike"),
        "unexamined_clusters": ("Not examined", "clusters that were too large"),
    }
    tiles += [
        (title, numbers.count(found.guard[key]), note) for key, (title, note) in names.items() if found.guard.get(key)
    ]
    return Tiles(tiles)


def _sources(found: Duplicates) -> Table:
    shown, others = largest(found.sources.items(), lambda one: one[1]["removed"], MOST_ROWS)
    exact, contained = found.exact or {}, found.contained or {}
    rows = [
        [
            source,
            loss["documents"],
            loss["removed"],
            loss["removed"] / loss["documents"] if loss["documents"] else None,
            None if found.exact is None else exact.get(source, 0),
            None if found.exact is None else loss["removed"] - exact.get(source, 0) - contained.get(source, 0),
            *([] if found.contained is None else [contained.get(source, 0)]),
        ]
        for source, loss in shown
    ]
    columns = [("source", "text"), ("compared", "count"), ("left out", "count"), ("share left out", "share")]
    columns += [("same text", "count"), ("similar text", "count")]
    columns += [] if found.contained is None else [("stands in the one kept", "count")]
    return Table("Near-duplicates by source", columns, rows, left_out=len(others))


def _matrix(found: Duplicates) -> Note | Charts:
    if found.pairs is None:
        return Note(f"Who duplicates whom: {NOT_COUNTED}.")
    sums: dict[str, int] = {}
    for gone, of in found.pairs.items():
        for kept, count in of.items():
            sums[gone] = sums.get(gone, 0) + count
            sums[kept] = sums.get(kept, 0) + count
    names, others = largest(sums, lambda name: sums[name], _MATRIX)
    if not names:
        return Note("No document was left out as a near-duplicate.")
    values = [[found.pairs.get(gone, {}).get(kept, 0) for kept in names] for gone in names]
    more = f"; {len(others)} sources with fewer are left out" if others else ""
    title = f"Who duplicates whom: documents of the source on the left left out for one of the source above{more}"
    return Charts([charts.heat_map(title, list(map(words, names)), list(map(words, names)), values)])
