"""Values of taggers, with the limits of the filter."""

from corpus_assets.html import charts
from corpus_assets.report.model import Model
from corpus_assets.report.sections.blocks import Charts, Note, Section
from corpus_assets.report.sections.flow import NOT_COUNTED


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
    return section


def _title(key: str, none: int) -> str:
    name = key.replace("__", ".")
    return f"{name} ({none:,} documents without)" if none else name
