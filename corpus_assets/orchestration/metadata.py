"""The descriptions and metadata that the web UI shows for an asset and for each of its partitions."""

from collections.abc import Iterable, Mapping
from typing import Any

import dagster as dg

from resources.ledger import Record
from resources.stage.declaration import Partitioning, Stage

MAX_EXAMPLES = 10
MAX_FILES = 20
_LABELS = {"text_bytes": "text (MB)", "raw_bytes": "raw (MB)", "bytes": "raw (MB)"}
_ROW_COUNT = {True: "dagster/row_count", False: "dagster/partition_row_count"}
_NOT_SHOWN = {"seconds", "cpu_seconds", "modified", "page"}
_REPORT_PAGE = "/corpus/report"
"""Where the web server shows the report, seen from its own address."""


def description(stage: Stage) -> str:
    """Returns the description of an asset."""
    unit = "the whole corpus" if stage.partitioning is Partitioning.NONE else f"one {stage.partitioning.value}"
    return f"{stage.description}\n\nOne partition is {unit}. Algorithm version {stage.code_version}."


def definition_metadata(stage: Stage) -> dict[str, Any]:
    """Returns the columns of an asset and the configuration keys it depends on."""
    metadata: dict[str, Any] = {}
    if stage.columns:
        columns = [dg.TableColumn(name, kind) for name, kind in stage.columns.items()]
        metadata["dagster/column_schema"] = dg.TableSchema(columns=columns)
    if stage.parameters:
        metadata["depends on"] = dg.MetadataValue.text(", ".join(stage.parameters))
    return metadata


def partition_metadata(record: Record, reasons: Iterable[str], recomputed: bool, why: str) -> dict[str, Any]:
    """Returns the same numbers for every partition of an asset, zeros included, so that a plot has no gaps.

    reasons: the drop reasons of the asset, each of which becomes a number.
    """
    seconds = float(record.statistics.get("seconds", 0))
    return {
        "why": why or ("asked for" if recomputed else "fresh, not computed again"),
        **_numbers(record.statistics),
        **_dropped(record.statistics, reasons),
        **_tables(record.statistics),
        "seconds": seconds,
        "CPU seconds": float(record.statistics.get("cpu_seconds", 0)),
        **_speed(record.statistics, seconds),
        "stored (MB)": _megabytes(sum(file.bytes for file in record.files)),
        _ROW_COUNT[record.partition is None]: int(record.statistics.get("rows_out") or 0),
        **_examples(record.statistics),
        **_page(record.statistics),
        "stored as": dg.MetadataValue.md(_file_list(record)),
        "recipe": record.recipe,
    }


def _numbers(statistics: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the counts of the stage under readable names; bytes of content in MB."""
    found: dict[str, Any] = {}
    for name, value in statistics.items():
        if name in _LABELS:
            found[_LABELS[name]] = _megabytes(value)
        elif name not in _NOT_SHOWN and isinstance(value, int | float | str):
            found[name.replace("_", " ")] = value
    return found


def _tables(statistics: Mapping[str, Any]) -> dict[str, Any]:
    """Returns lists of rows, each a mapping with the same plain values, as tables."""
    return {
        name.replace("_", " "): dg.MetadataValue.table([dg.TableRecord(row) for row in value])
        for name, value in statistics.items()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    }


def _dropped(statistics: Mapping[str, Any], reasons: Iterable[str]) -> dict[str, int]:
    if "rows_in" not in statistics:
        return {}
    dropped = statistics.get("dropped", {})
    by_reason = {f"dropped: {reason.replace('_', ' ')}": dropped.get(reason, 0) for reason in reasons}
    return {"rows dropped": sum(dropped.values()), **by_reason}


def _speed(statistics: Mapping[str, Any], seconds: float) -> dict[str, float]:
    if "text_bytes" not in statistics:
        return {}
    return {"MB/s": round(statistics["text_bytes"] / 1e6 / max(seconds, 0.001), 2)}


def _megabytes(size: int) -> float:
    return round(size / 1e6, 6)


def _examples(statistics: Mapping[str, Any]) -> dict[str, Any]:
    examples = statistics.get("dropped_examples")
    if not examples:
        return {}
    return {"dropped rows, first examples": dg.MetadataValue.md(_list(examples[:MAX_EXAMPLES]))}


def _page(statistics: Mapping[str, Any]) -> dict[str, Any]:
    """Returns links to the page that a partition is: in the web UI, and as a file below the store."""
    if "page" not in statistics:
        return {}
    return {"open": dg.MetadataValue.url(_REPORT_PAGE), "file": dg.MetadataValue.path(statistics["page"])}


def _file_list(record: Record) -> str:
    shown = [f"{file.path} ({file.bytes:,} bytes)" for file in record.files[:MAX_FILES]]
    more = len(record.files) - len(shown)
    return _list(shown) + (f"\n- and {more} more" if more else "")


def _list(lines: Iterable[str]) -> str:
    """Returns a Markdown list; its lines are shown as code, so that text from raw files is never interpreted."""
    return "\n".join(f"- `{line[:300].replace('`', chr(39))}`" for line in lines)
