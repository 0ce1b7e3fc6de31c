"""`corpus plan`: which partitions are not fresh, and why."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from corpus_assets.cli.console import FAILED, NOT_FRESH, output, print_causes, print_json, print_notes, selected
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.store_notes import store_notes
from corpus_assets.left_beside import left_beside_note
from corpus_assets.numbers import duration, size
from corpus_assets.orchestration.freshness.causes import Causes, Cost, Folded, Outlook, causes
from resources.planning.planner import Plan, Status


def run(
    config: Path | None, select: list[str] | None, changes: Sequence[str], *, as_json: bool, check: bool, every: bool
) -> int:
    """Prints the plan; returns the exit code. changes: of the configuration, `KEY=VALUE` each."""
    corpus = Corpus.open(config, changes, read_only=True)
    planner = corpus.planner()
    chosen = selected(corpus, select)
    planner.check_before(stage for stage in chosen if not planner.all_fresh(stage))
    found = planner.plan(chosen if select else None)
    if not select:  # Like orphans, this needs the records of all assets.
        found.notes += left_beside_note(planner)
    why = causes(planner, chosen)
    of_store = list(store_notes(corpus, planner.ledger))
    if as_json:
        print_json(plan_values(found, why, of_store))
    else:
        print_notes(output(), of_store)
        show_plan(output(), found, why, every=every)
    stale = any(decision.status is not Status.FRESH for decision in found.decisions)
    if why.gates and any(planner.foreseen(stage) for stage in planner.graph):
        return FAILED  # No build can work with the present files.
    return NOT_FRESH if (check or as_json) and stale else 0


def plan_values(found: Plan, why: Causes, of_store: list[str]) -> dict[str, Any]:
    """Returns a plan as values for JSON. of_store: notes about the store."""
    rows = [
        {"asset": d.asset, "partition": d.partition, "status": str(d.status), "reason": d.reason}
        for d in found.decisions
    ]
    orphans = [{"asset": asset, "partition": partition} for asset, partition in found.orphans]
    outlook = {one.name.lower(): asdict(why.cost(one)) for one in Outlook}
    return {
        "partitions": rows,
        "counts": found.counts(),
        "orphans": orphans,
        "notes": [*of_store, *found.notes],
        "held_back": why.gates,
        "failed_before": why.failed,
        "outlook": outlook,
    }


def show_plan(out: Console, found: Plan, why: Causes, *, every: bool = False) -> None:
    """Prints the causes, each once; then the waiting partitions by stage; then the totals."""
    print_causes(out, why)
    for outlook in Outlook:
        rows = [one for one in why.folded if one.outlook is outlook]
        if rows:
            out.print(f"{outlook}:", style="bold")
            out.print(_table(rows))
    if every:
        _show_fresh(out, found)
    print_notes(out, found.notes)
    if found.orphans:
        out.print(f"{len(found.orphans)} orphans (their raw file, band, chunk or asset is gone): corpus clean")
    for outlook in Outlook:
        if (cost := why.cost(outlook)).partitions:
            out.print(f"{cost.partitions:,} {_TOTAL[outlook]}{_last_time(cost)}")
    out.print(", ".join(f"{count:,} {status}" for status, count in found.counts().items()))


_TOTAL = {
    Outlook.SURE: "will be computed",
    Outlook.MAY_CHANGE: "may change, if what they read comes out different",
    Outlook.HELD_BACK: "wait for what is held back",
}


def _table(rows: list[Folded]) -> Table:
    table = Table("  asset", "partitions", "", "stored", "took", "reason", box=None, pad_edge=False)
    for column in table.columns[1], table.columns[3], table.columns[4]:
        column.justify = "right"
        column.no_wrap = True
    for one in rows:
        first = f"{one.keys[0]}{' ...' if len(one.keys) > 1 else ''}" if one.keys[0] is not None else ""
        stored, took = (size(one.cost.bytes), duration(one.cost.seconds)) if one.cost.recorded else ("", "")
        reason = f"{one.status}: {one.reason}" if one.reason else str(one.status)
        reason = "" if one.outlook is Outlook.MAY_CHANGE else reason
        table.add_row(f"  {one.asset}", f"{len(one.keys):,}", first, stored, took, reason)
    if not any(one.cost.recorded for one in rows):
        table.columns[3].header = table.columns[4].header = ""
    return table


def _show_fresh(out: Console, found: Plan) -> None:
    fresh = [one.name for one in found.decisions if one.status is Status.FRESH]
    if fresh:
        out.print("fresh:", style="bold")
    for name in fresh:
        out.print(f"  {name}")


def _last_time(cost: Cost) -> str:
    if not cost.recorded:
        return ""
    some = f"{cost.recorded:,} of them" if cost.recorded < cost.partitions else "they"
    return f"; {some} took {duration(cost.seconds)} the last time, {size(cost.bytes)} stored"
