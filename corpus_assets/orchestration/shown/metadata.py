"""What the web UI shows of a partition and, as a sum over all of them, of an asset: a line of words, then numbers."""

from collections.abc import Iterable, Mapping
from os.path import commonpath
from typing import Any

import dagster as dg

from corpus_assets.numbers import count, size
from corpus_assets.orchestration.shown.figures import (
    COMPILED,
    DROPPED,
    Numbers,
    details,
    figures,
    megabytes,
    speed,
    summary_line,
)
from corpus_assets.orchestration.shown.markdown import code_list, table
from corpus_assets.orchestration.shown.pages import REPORT, page
from resources.ledger.ledger import Record
from resources.stage.declaration import Stage

MAX_EXAMPLES = 10
MAX_FILES = 20
MAX_SOURCES = 100


def partition_metadata(stage: Stage, record: Record, reasons: Iterable[str], *, place: str, why: str) -> dict[str, Any]:
    """Returns the same numbers for every partition of an asset, zeros included, so that a plot has no gaps.

    reasons: all for which the stage may drop rows, each of which becomes a number. place: that of the store. why: the
    reason for which the partition was computed.
    """
    numbers = record.numbers
    found = figures(stage, numbers, reasons, whole=record.partition is None)
    nothing = {name: value for name, value in found.items() if name.startswith(DROPPED) and not value}
    return {
        "summary": summary_line(stage, numbers),
        "why": why,
        "look": dg.MetadataValue.url(page(record.asset, record.partition)),
        **{name: value for name, value in found.items() if name not in nothing},
        **_tables(numbers),
        **effort(numbers),
        **_stored(record, place),
        **_examples(numbers),
        **_report(numbers),
        "details": dg.MetadataValue.json(_details(record)),
        **nothing,
    }


def effort(numbers: Numbers) -> dict[str, float]:
    """Returns the time that a partition or all of them took, and how fast that is."""
    rate = speed(numbers)
    found = {"seconds": round(float(numbers.get("seconds", 0)), 3)}
    found["CPU seconds"] = round(float(numbers.get("cpu_seconds", 0)), 3)
    if numbers.get(COMPILED):
        found["of them compiling"] = round(float(numbers[COMPILED]), 3)
    return found if rate is None else {**found, "text (MB/s)": rate}


def _tables(numbers: Numbers) -> dict[str, Any]:
    """Returns lists of rows, each a mapping with the same plain values, as tables."""
    found = {
        name.replace("_", " "): dg.MetadataValue.table([dg.TableRecord(row) for row in value])
        for name, value in numbers.items()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    }
    return {**found, **by_source_table(numbers.get("by_source", {}))}


def by_source_table(by_source: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the numbers of each source as a table; nothing for no sources."""
    if not by_source:
        return {}
    names = list(dict.fromkeys(name for numbers in by_source.values() for name in numbers))
    words = ["source", *("text" if name == "text_bytes" else name.replace("_", " ") for name in names)]
    rows = [
        [source, *(_cell(name, numbers.get(name)) for name in names)]
        for source, numbers in list(by_source.items())[:MAX_SOURCES]
    ]
    more = f"\n\nand {len(by_source) - MAX_SOURCES} more sources" if len(by_source) > MAX_SOURCES else ""
    return {"by source": dg.MetadataValue.md(table(words, rows) + more)}


def _cell(name: str, value: Any) -> str:
    if not isinstance(value, int | float):
        return ""
    return size(value) if name.endswith("bytes") or name == "stored" else count(value)


def _stored(record: Record, place: str) -> dict[str, Any]:
    """Returns where the files of a record are, and their size; nothing for a record without files."""
    if not record.files:
        return {}
    shown = [f"{file.path} ({size(file.bytes)})" for file in record.files[:MAX_FILES]]
    more = len(record.files) - len(shown)
    files = code_list(shown) + (f"\n- and {more} more" if more else "")
    paths = [file.path for file in record.files]
    return {
        "stored (MB)": megabytes(sum(file.bytes for file in record.files)),
        "dagster/uri": f"{place}/{paths[0] if len(paths) == 1 else commonpath(paths)}",
        "stored as": dg.MetadataValue.md(files),
    }


def _examples(numbers: Numbers) -> dict[str, Any]:
    examples = numbers.get("dropped_examples")
    if not examples:
        return {}
    return {"dropped rows, first examples": dg.MetadataValue.md(code_list(examples[:MAX_EXAMPLES]))}


def _report(numbers: Numbers) -> dict[str, Any]:
    """Returns links to the page that a partition is: in the web UI, and as a file below the store."""
    if "page" not in numbers:
        return {}
    return {"open": dg.MetadataValue.url(REPORT), "file": dg.MetadataValue.path(numbers["page"])}


def _details(record: Record) -> dict[str, Any]:
    """Returns values that only help when something is wrong."""
    return {
        "recipe": record.recipe,
        "content": record.digest,
        "code version": record.code_version,
        "made by": dict(record.versions),
        "computed": record.created,
        **details(record.numbers),
    }
