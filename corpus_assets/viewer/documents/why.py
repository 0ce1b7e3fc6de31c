"""The way of a document through every stage to the token rows, or to the stage and reason that dropped it."""

from collections.abc import Iterable, Iterator
from typing import Any

from corpus_assets import dataset_names as names
from corpus_assets.orchestration.shown.figures import plain
from corpus_assets.tracing.from_tokens.exports import is_exported, trace_export
from corpus_assets.tracing.from_tokens.rows import TooLongError, trace_row
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.names import Match, named
from corpus_assets.tracing.origins import Origin
from corpus_assets.tracing.step import Step, Way
from corpus_assets.tracing.tables import rows_in
from corpus_assets.tracing.way import way_of, way_of_document
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.query import MOST_NAME, RefusedError
from corpus_assets.viewer.reading import lines_file
from corpus_assets.viewer.site import Asked, link, page, seen, short, way_link
from resources.documents.names import document_name, shown_id

QUICK = 0.05
"""Seconds for searching rows of HDF5 when a page is first shown; `SLOW` when it is asked for."""

SLOW = 15
MOST_WAYS = 5
_PARAMETERS = ("source", "id", "shard", "number", "dataset", "file", "row", "position")
_WORDS = {"here": "good", "changed": "warn", "moved": "good", "dropped": "bad", "unknown": "soft"}


def why(asked: Asked) -> str:
    """Shows the ways of the requested documents.

    Parameters: `id`, any name of a document, and `source`; or `shard` and `number` of the document, or `row` of the raw
    file; or `dataset`, `file`, `row` and `position` of a token. `seconds`: for searching rows of HDF5.
    """
    view, query = asked.view, asked.query
    seconds = query.number("seconds", high=SLOW)
    look = view.look()
    try:
        ways = list(_ways(asked, look, float(seconds) or QUICK))
        unfinished = any(step.status == "unknown" for way in ways for step in way.steps)
    except TooLongError:
        if seconds:
            raise RefusedError(404, _not_found(asked, seconds)) from None
        ways, unfinished = [], True
    given = {name: query.text(name, MOST_NAME) for name in _PARAMETERS}
    return page(
        asked,
        "why.html",
        "Where did this document go?",
        ways=[_shown(view, look, way) for way in ways],
        id=query.text("id", MOST_NAME),
        source=query.text("source"),
        sources=view.corpus.settings.sources(),
        slower=link("why", **given, seconds=SLOW) if unfinished and not seconds else "",
        slow=SLOW,
    )


def _ways(asked: Asked, look: Look, seconds: float) -> Iterator[Way]:
    query = asked.query
    shard, identifier, dataset = query.text("shard", 2000), query.text("id", MOST_NAME), query.text("dataset")
    if dataset:
        place = query.text("file", 2000), query.number("row"), query.number("position")
        for one in _of_token(asked.view, dataset, place, seconds):
            if one.shard is not None and one.row is not None:
                yield way_of(look, one.shard, one.row, seconds=seconds)
    elif shard:
        if query.text("row"):
            yield way_of(look, shard, query.number("row"), seconds=seconds)
        else:
            yield _of_number(look, shard, query.number("number"), seconds)
    elif identifier:
        for match in _named(look, identifier, query.text("source")):
            yield match.way(look, seconds)


def _of_number(look: Look, shard: str, number: int, seconds: float) -> Way:
    made = look.shard(look.asset_of(shard), shard)
    if number >= (rows := rows_in(made)):
        raise RefusedError(404, f"{shard} has {rows} documents; number {number:,} was asked for")
    return way_of_document(look, shard, number, seconds=seconds)


def _named(look: Look, name: str, source: str) -> list[Match]:
    matches = named(look, name, source or None, limit=MOST_WAYS, seconds=10.0)
    if not matches.found:
        where = f" of source {source}" if source else ""
        unfinished = f" in {matches.unfinished}" if matches.unfinished else ""
        what = short(name, 200)
        raise RefusedError(404, f"No document{where} is named {what!r}{unfinished}. The search finds parts of ids.")
    return matches.found[:MOST_WAYS]


def _of_token(view: View, dataset: str, place: tuple[str, int, int], seconds: float) -> Iterable[Origin]:
    """Returns the documents of a token. place: file, row and position.

    seconds: how long to look for one in HDF5; `TooLongError` if none was found by then.
    """
    file, row, position = place
    known = {entry["name"] for entry in view.corpus.settings.values["datasets"]}
    if dataset not in known:
        raise RefusedError(404, f"There is no dataset {short(dataset, 100)!r}.")
    if is_exported(view.corpus, dataset):
        return [trace_export(view.corpus, dataset, file, row, position).origin]
    found = trace_row(view.corpus, dataset, file, row, position, seconds=seconds).found
    if not found:
        raise RefusedError(
            404,
            "No document has the text around this token as it stands: it was cleaned, or written by a template, before "
            "it was tokenized. Choose a token in the middle of a longer text.",
        )
    return found


def _not_found(asked: Asked, seconds: int) -> str:
    token = " ".join(asked.query.text(name, 2000) for name in ("dataset", "file", "row", "position"))
    looked = f"No document with this text was found in {seconds} seconds."
    return f"{looked} To look through all of them: corpus trace {token}"


def _shown(view: View, look: Look, way: Way) -> dict[str, Any]:
    ends = list(way.ends())
    shard, number = way.origin.shard, way.number
    return {
        "id": shown_id(way.origin.id, 300) if number is not None else "a row that gave no document",
        "source": way.origin.source,
        "file": way.origin.file or "gone",
        "row": way.origin.row,
        "href": _lines(look, shard, number) if shard and number is not None else "",
        "ends": [(end.stage, plain(end.reason or ""), seen(end.words)) for end in ends],
        "reached": [stage.removesuffix("_tokens").removesuffix("_texts") for stage in way.reached()],
        "unknown": [(stage.removesuffix("_tokens"), seen(words[:1000])) for stage, words in way.unknown().items()],
        "steps": [_step(view, step, _several(way)) for step in way.steps],
    }


def _lines(look: Look, shard: str, number: int) -> str:
    """Returns the address of a document's page; empty where there is none, as only its ids are stored."""
    return "" if look.holds_ids(shard) else link("documents", look.asset_of(shard), shard, row=number)


def _several(way: Way) -> bool:
    return len({step.copy for step in way.steps if step.copy is not None}) > 1


def _step(view: View, step: Step, several: bool) -> dict[str, Any]:
    return {
        "stage": step.stage,
        "href": link("assets", step.stage) if step.stage in view.corpus.graph.stages else "",
        "partition": step.partition or "",
        "partition_href": _partition(view, step),
        "status": step.status,
        "colour": _WORDS[step.status],
        "words": seen(step.words[:1000]),
        "use": step.copy + 1 if several and step.copy is not None else None,
        "stale": seen(step.stale[:500]),
        "rows": _rows(view, step),
        "other": _other(step.other),
    }


def _partition(view: View, step: Step) -> str:
    """Returns the address of the row that a step found, or of its partition; empty if it is not stored."""
    record = view.records(step.stage).get(step.partition) if step.stage in view.corpus.graph.stages else None
    if record is None or step.partition is None:
        return ""
    file = lines_file(record)
    if step.row is not None and file is not None and step.row < (file.rows or 0):
        return link("documents", step.stage, step.partition, row=step.row)
    return link("assets", step.stage, step.partition)


def _rows(view: View, step: Step) -> list[tuple[str, str]]:
    """Returns the token rows that hold the document, each with its address."""
    found = []
    datasets = [one["name"] for one in view.corpus.settings.values["datasets"]]
    name = next((one for one in datasets if names.tokens(one) == step.stage), "")
    for one in step.details.get("rows", [])[:10] if name else []:
        if not isinstance(one, dict):
            continue
        file = str(one.get("file", ""))
        short_name = file.rpartition("/")[2]
        if isinstance(one.get("first"), int):
            last = one.get("last", one["first"])
            words = f"row {one['first']:,}" if last == one["first"] else f"rows {one['first']:,} to {last:,}"
            found.append((f"{words} of {short_name}", link("tokens", name, file=file, row=one["first"])))
        for row in one.get("rows", [])[:10]:
            found.append((f"row {row:,} of {short_name}", link("tokens", name, file=file, row=row)))
    return found


def _other(other: Origin | None) -> dict[str, str] | None:
    if other is None:
        return None
    return {"text": document_name(other.source, other.id, 200), "href": way_link(other.source, other.id)}
