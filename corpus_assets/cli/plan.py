"""`corpus plan`: which partitions are not fresh, and why."""

from pathlib import Path
from typing import Any

from rich.table import Table

from corpus_assets.cli.console import NOT_FRESH, output, print_json, print_notes, selected
from corpus_assets.corpus import Corpus
from resources.planning.planner import Plan, Status

_MAY_CHANGE = "may change: something it reads is not fresh"


def run(config: Path | None, select: list[str] | None, *, as_json: bool, check: bool, every: bool) -> int:
    """Prints the plan; returns the exit code."""
    corpus = Corpus.open(config)
    found = corpus.planner().plan(selected(corpus, select) if select else None)
    if as_json:
        print_json(_as_json(found))
    else:
        _show(found, every)
    stale = any(decision.status is not Status.FRESH for decision in found.decisions)
    return NOT_FRESH if (check or as_json) and stale else 0


def _as_json(found: Plan) -> dict[str, Any]:
    rows = [
        {"asset": d.asset, "partition": d.partition, "status": str(d.status), "reason": d.reason}
        for d in found.decisions
    ]
    orphans = [{"asset": asset, "partition": partition} for asset, partition in found.orphans]
    return {"partitions": rows, "counts": found.counts(), "orphans": orphans, "notes": found.notes}


def _show(found: Plan, every: bool) -> None:
    table = Table("asset", "partition", "status", "reason", box=None, pad_edge=False)
    groups: dict[tuple[str, Status, str], list[str]] = {}
    for decision in found.decisions:
        if every or decision.status is not Status.FRESH:
            waits = decision.status is Status.WAITING
            key = (decision.asset, decision.status, _MAY_CHANGE if waits else decision.reason)
            groups.setdefault(key, []).append(decision.partition or "")
    for (asset, status, reason), keys in groups.items():
        many = f"{keys[0]} and {len(keys) - 1} more" if len(keys) > 1 else keys[0]
        table.add_row(asset, many, status, reason)
    out = output()
    if groups:
        out.print(table)
    print_notes(out, found.notes)
    if found.orphans:
        out.print(f"{len(found.orphans)} orphans (their raw file, band, chunk or asset is gone): corpus clean")
    out.print(", ".join(f"{count:,} {status}" for status, count in found.counts().items()))
