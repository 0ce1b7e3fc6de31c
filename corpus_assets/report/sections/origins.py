"""Domains, hosts, suffixes and years of the documents of train."""

from collections.abc import Sequence

from msgspec import UNSET

from corpus_assets.report.model import Model, Origin, Place
from corpus_assets.report.sections.blocks import Block, Heading, Note, Section, Table

MOST_SHOWN = 20


def origins(model: Model) -> Section:
    """Returns the largest domains, hosts and suffixes of each source, and its years; none if they are not counted."""
    section = Section("origins", "Domains and dates")
    for origin in () if model.origins is UNSET else model.origins:
        section.blocks += _of_source(origin)
    return section


def _of_source(origin: Origin) -> list[Block]:
    found: list[Block] = [Heading(f"{origin.source}: {origin.documents:,} documents, each counted once")]
    if origin.without_url:
        found.append(Note(f"{origin.without_url:,} documents name no URL."))
    kinds = (("domains", origin.domains), ("hosts", origin.hosts), ("suffixes", origin.suffixes))
    for kind, places in kinds:
        if places:
            title = f"The largest of {origin.different[kind]:,} {kind} of {origin.source}"
            found.append(
                _table(title, kind.removesuffix("es" if kind == "suffixes" else "s"), places, origin.different[kind])
            )
    if any(year.name for year in origin.years):
        years = [Place(year.name or "not known", *_numbers(year)) for year in origin.years]
        found.append(_table(f"Years in which documents of {origin.source} were written", "year", years, len(years)))
    return found


def _numbers(place: Place) -> tuple[int, int, int | None]:
    return place.documents, place.text_bytes, place.tokens


def _table(title: str, what: str, places: Sequence[Place], different: int) -> Table:
    shown = places if what == "year" else places[:MOST_SHOWN]
    rows = [[place.name or "none", *_numbers(place)] for place in shown]
    columns = [(what, "text"), ("documents", "count"), ("text", "size"), ("tokens", "count")]
    return Table(title, columns, rows, left_out=max(0, different - len(rows)))
