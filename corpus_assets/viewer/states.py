"""Pages for partitions that are not built or damaged."""

import logging
import shlex
import zlib

import msgspec

from corpus_assets.viewer.opened import View
from corpus_assets.viewer.query import MOST_TEXT, missing
from corpus_assets.viewer.site import Asked, link, page, seen, short
from resources.errors import CorpusError, NotBuiltError
from resources.ledger.records import ALL, partition_name
from resources.planning.planner import Status

UNREADABLE = (CorpusError, OSError, EOFError, ValueError, LookupError, zlib.error, msgspec.MsgspecError)
"""What readers raise for stored bytes that are not what a record says: pages do not compare whole files with it."""

_MOST_SAID = 2000
_LOG = logging.getLogger("corpus.viewer")


def unbuilt(asked: Asked, error: NotBuiltError) -> str:
    """Returns the page of a partition that is not built: its state, why, and why it failed, if it did.

    `RefusedError` if the corpus has no such partition now.
    """
    view, name, key = asked.view, error.asset, error.partition
    stage = view.corpus.graph.stages.get(name)
    if stage is None or (key != ALL and key not in view.planner().decisions(stage)):
        raise missing(str(error))
    status, words = state_of(view, name, key)
    failed = view.failures(name)
    whole = key == ALL
    shown = name if whole else partition_name(name, key)
    why = next(iter(failed.values()), "") if whole else failed.get(key, "")
    return page(
        asked,
        "unbuilt.html",
        f"{shown} is not built",
        heading=f"{shown} is not built",
        status=status,
        words=words,
        failed=short(why, MOST_TEXT),
        description=stage.description,
        command=f"corpus build --select {shlex.quote(f'+{name}')}",
        asset=name,
        href="" if key is None or whole else link("assets", name),
    )


def state_of(view: View, asset: str, key: str | None) -> tuple[str, str]:
    """Returns the state of a partition, and why: what it waits for, or what differs. key: ALL for the whole asset."""
    decisions = view.planner().decisions(view.corpus.graph[asset])
    if key != ALL:
        decision = decisions.get(key)
        if decision is None:
            return "orphan", "its raw file, band, chunk or asset is gone: corpus clean removes it"
        return str(decision.status), short(decision.reason or decision.blocked or "not built", MOST_TEXT)
    if not decisions:
        return str(Status.MISSING), "it has no partitions: there are no raw files for it"
    first = next((one for one in decisions.values() if one.status is not Status.FRESH), None)
    if first is None:
        return str(Status.FRESH), "it is built, and holds nothing of this kind"
    return str(first.status), short(first.reason or first.blocked or "not built", MOST_TEXT)


def damaged(asked: Asked, error: Exception) -> str:
    """Returns the page about a file that cannot be read."""
    _LOG.warning("%s: %s", type(error).__name__, error, exc_info=not isinstance(error, CorpusError | OSError))
    return page(asked, "damaged.html", "This cannot be read", message=said_of(error))


def said_of(error: Exception) -> str:
    """Returns what an error of `UNREADABLE` says, for a page; one of a library with its kind."""
    said = str(error) if isinstance(error, CorpusError | OSError) else f"{type(error).__name__}: {error}"
    return seen(said[:_MOST_SAID])
