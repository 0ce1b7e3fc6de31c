"""What differs from an earlier build, as `corpus diff` says it."""

from typing import Any

from corpus_assets.diff.history import Entry, entries
from corpus_assets.diff.page import cut, sections
from corpus_assets.diff.past import with_its_past
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.site import Asked, page, seen
from resources.errors import ConfigError

_TIME = "%Y-%m-%dT%H:%M:%S"


def changes(asked: Asked) -> str:
    """Shows what changed since a kept build: `since`, or by default the last one with other contents."""
    view = asked.view
    kept = list(reversed(entries(view.corpus.storage)))
    since = asked.query.one_of("since", ["", *map(_name, kept)])
    found = view.looks.get(f"changes since {since}", lambda: _found(view, since))
    return page(
        asked,
        "changes.html",
        "Changes",
        since=since,
        builds=[(_name(one), one.shown) for one in kept],
        when=view.looks.when(f"changes since {since}"),
        **found,
    )


def _name(entry: Entry) -> str:
    return entry.time.strftime(_TIME)


def _found(view: View, since: str) -> dict[str, Any]:
    try:
        found = with_its_past(view.corpus, since or None)
    except ConfigError as error:
        return {"old": "", "new": "", "tables": [], "nothing": seen(str(error))}
    shown = [one._replace(rows=[[_safe(value) for value in row] for row in one.rows]) for one in sections(found)]
    nothing = "Nothing differs." if found.is_empty else ""
    return {"old": found.old["what"], "new": found.new["what"], "tables": cut(shown), "nothing": nothing}


def _safe(value: object) -> object:
    return seen(value[:2000]) if isinstance(value, str) else value
