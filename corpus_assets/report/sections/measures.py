"""Values of taggers, with the limits of the filter; where they are counted, by language too."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from corpus_assets.html import charts
from corpus_assets.report.model import LanguageScores, Model
from corpus_assets.report.sections.blocks import MOST_ROWS, Block, Charts, Heading, Note, Section, Table
from corpus_assets.report.sections.flow import NOT_COUNTED

_MOST_DRAWN = 6
"""Languages with histograms on the page; the numbers beside it have more."""


def measures(model: Model) -> Section:
    """Returns a histogram for each thing that a tagger measured."""
    section = Section("attributes", "Attributes")
    if not model.configuration.get("attributes"):
        section.blocks.append(Note("No attributes are configured."))
    elif not model.measures:
        section.blocks.append(Note(f"Histograms: {NOT_COUNTED}."))
    else:
        drawn = [charts.histogram(_title(one.key, one.none), one.edges, one.counts, one.cuts) for one in model.measures]
        section.blocks.append(Charts(drawn))
    if model.measures_left_out:
        section.blocks.append(Note(f"{model.measures_left_out} more are not shown."))
    if model.languages is not UNSET and model.languages:
        section.blocks += _by_language(model.languages)
    return section


def _by_language(found: Sequence[LanguageScores]) -> Iterator[Block]:
    """Yields the documents of each language, and the histograms of the languages with most documents."""
    rows = [[one.source, one.language, one.documents] for one in found]
    columns = [("source", "text"), ("language", "text"), ("documents", "count")]
    yield Table("Documents by source and language", columns, rows[:MOST_ROWS], left_out=max(0, len(rows) - MOST_ROWS))
    for one in sorted(found, key=lambda one: (-one.documents, one.source, one.language))[:_MOST_DRAWN]:
        drawn = [charts.histogram(_title(m.key, m.none), m.edges, m.counts, m.cuts) for m in one.measures]
        if drawn:
            yield from (Heading(f"{one.language} in {one.source}: {one.documents:,} documents"), Charts(drawn))


def _title(key: str, none: int) -> str:
    name = key.replace("__", ".")
    return f"{name} ({none:,} documents without)" if none else name
