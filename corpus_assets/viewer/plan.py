"""The plan: what would run now and why, causes first, folded by stage, with what it took the last time."""

from typing import Any

from corpus_assets.left_beside import left_beside_note
from corpus_assets.orchestration.freshness.causes import Causes, Folded, Outlook, causes
from corpus_assets.viewer.site import Asked, link, page, short
from resources.planning.planner import Planner, Status

MOST_ROWS = 500
MOST_FAILED = 50
_TITLES = {
    Outlook.SURE: "Will be computed",
    Outlook.MAY_CHANGE: "May change, if what they read comes out different",
    Outlook.HELD_BACK: "Wait for what is held back",
}


def plan(asked: Asked) -> str:
    """Shows what `corpus plan` says."""
    view = asked.view
    found = view.looks.get("causes", lambda: described(view.planner()))
    return page(asked, "plan.html", "The plan", when=view.looks.when("causes"), **found)


def described(planner: Planner) -> dict[str, Any]:
    """Returns a plan in words and numbers, for a page."""
    whole = planner.plan()
    whole.notes += left_beside_note(planner)
    why = causes(planner, planner.graph)
    counts = whole.counts()
    return {
        "counts": counts,
        "total": sum(counts.values()),
        "not_fresh": sum(counts.values()) - counts[Status.FRESH],
        "gates": [(short(gate, 500), count) for gate, count in why.gates.items()],
        "failed": [(name, short(words, 500)) for name, words in list(why.failed.items())[:MOST_FAILED]],
        "more_failed": max(0, len(why.failed) - MOST_FAILED),
        "outlooks": [_outlook(why, outlook) for outlook in Outlook if why.cost(outlook).partitions],
        "notes": [short(note, 500) for note in whole.notes[:50]],
        "orphans": len(whole.orphans),
    }


def _outlook(why: Causes, outlook: Outlook) -> dict[str, Any]:
    rows = [one for one in why.folded if one.outlook is outlook]
    return {
        "title": _TITLES[outlook],
        "cost": why.cost(outlook),
        "rows": [_row(one) for one in rows[:MOST_ROWS]],
        "more": max(0, len(rows) - MOST_ROWS),
        "reasons": outlook is not Outlook.MAY_CHANGE,
    }


def _row(one: Folded) -> dict[str, Any]:
    first = one.keys[0]
    recorded = one.cost.recorded
    return {
        "asset": one.asset,
        "href": link("assets", one.asset),
        "partitions": len(one.keys),
        "first": "" if first is None else first + ("\u00a0…" if len(one.keys) > 1 else ""),
        "stored": one.cost.bytes if recorded else None,
        "took": one.cost.seconds if recorded else None,
        "reason": f"{one.status}: {short(one.reason, 300)}" if one.reason else str(one.status),
    }
