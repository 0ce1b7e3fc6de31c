"""Pages of an asset and of one partition: its record in words, what it was made from, and its rows."""

from collections.abc import Mapping
from typing import Any

import msgspec

from corpus_assets import dataset_names as names
from corpus_assets.orchestration.shown.figures import plain
from corpus_assets.viewer.lines import shown_line
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.query import missing
from corpus_assets.viewer.reading import array_rows, first_rows, is_array, is_lines, lines_at
from corpus_assets.viewer.site import Asked, link, page, seen, short
from corpus_assets.viewer.states import UNREADABLE, said_of, state_of
from corpus_assets.viewer.token_files import files_of
from resources.errors import NotBuiltError, is_of_the_machine
from resources.formats.jsonl.compressions import ENDINGS
from resources.ledger.records import FileRecord, Record, partition_name
from resources.planning.planner import Status
from resources.stage.declaration import Partitioning, Stage
from resources.stage.graph import did_you_mean

PER_PAGE = 100
ROWS = 20
MOST_INPUTS = 50
_HIDDEN = {"seconds", "cpu_seconds", "dropped", "dropped_examples", "dropped_rows", "bytes", "text_bytes", "modified"}
_UNITS = {
    Partitioning.SHARD: "raw file",
    Partitioning.BAND: "band",
    Partitioning.RANGE: "range",
    Partitioning.CHUNK: "chunk",
}


def stage_of(view: View, name: str) -> Stage:
    """Returns the stage of an asset; `RefusedError` if there is none, with a name that is like it."""
    if name not in view.corpus.graph.stages:
        known = list(view.corpus.graph.stages)
        raise missing(f"There is no asset {name[:100]!r}{did_you_mean(name[:100], known)}.")
    return view.corpus.graph[name]


def record_of(view: View, asset: str, key: str | None) -> Record:
    """Returns the record of a partition that is built; `NotBuiltError` if it is not."""
    record = view.records(stage_of(view, asset).name).get(key)
    if record is None:
        what = partition_name(asset, key and key[:100])
        raise NotBuiltError(asset, key, f"{what} is not built, and the corpus has no such partition now.")
    return record


def asset(asked: Asked) -> str:
    """Shows an asset: what it is, what it reads, and its partitions, a hundred at a time."""
    view = asked.view
    stage = stage_of(view, asked.path["asset"])
    if stage.partitioning is Partitioning.NONE and None in view.records(stage.name):
        return _partition(asked, stage, None)
    planner, records = view.planner(), view.records(stage.name)
    decisions, failed = planner.decisions(stage), view.failures(stage.name)
    wanted = asked.query.text("find").lower()
    keys = [key for key in decisions if wanted in (key or "").lower()]
    start = asked.query.number("from")
    rows = []
    for key in keys[start : start + PER_PAGE]:
        record, decision = records.get(key), decisions[key]
        rows.append(
            {
                "key": key or "the whole corpus",
                "href": partition_address(stage.name, key) if record else "",
                "status": "failed" if key in failed else str(decision.status),
                "reason": failed.get(key) or decision.reason or decision.blocked,
                "rows": record.statistics.get("rows_out") if record else None,
                "dropped": sum(record.statistics.get("dropped", {}).values()) if record else None,
                "stored": sum(file.bytes for file in record.files) if record else None,
                "seconds": record.statistics.get("seconds") if record else None,
                "created": record.created[:19].replace("T", " ") if record else "",
            }
        )
    return page(
        asked,
        "assets.html",
        stage.name,
        stage=_stage(view, stage),
        rows=rows,
        total=len(keys),
        all=len(decisions),
        find=asked.query.text("find"),
        unit=_UNITS.get(stage.partitioning, "corpus"),
        not_fresh=sum(decision.status is not Status.FRESH for decision in decisions.values()),
        numbers=_totals(view.present(stage.name)),
        orphans=[(key, partition_address(stage.name, key)) for key in records if key not in decisions][:PER_PAGE],
        failed=len(failed),
        pages=pages(start, PER_PAGE, len(keys), lambda at: _here(asked, "assets", stage.name, at)),
    )


def _here(asked: Asked, section: str, name: str, start: int) -> str:
    return link(section, name, **{"find": asked.query.text("find"), "from": start or None})


def partition_address(asset: str, key: str | None) -> str:
    """Returns the address of a partition."""
    return link("assets", asset) if key is None else link("assets", asset, key)


def pages(start: int, step: int, total: int, href: Any) -> dict[str, Any]:
    """Returns the links to the previous and the next rows, and where one is. href: address of the rows from one on."""
    return {
        "first": start + 1 if total else 0,
        "last": min(total, start + step),
        "total": total,
        "before": href(max(0, start - step)) if start else "",
        "after": href(start + step) if start + step < total else "",
    }


def _totals(records: Mapping[str | None, Record]) -> list[tuple[str, Any, str]]:
    """Returns the sums over all partitions."""
    built = list(records.values())
    sums: dict[str, int] = {}
    for record in built:
        for name, value in record.statistics.items():
            if isinstance(value, int) and not isinstance(value, bool) and name in {"rows_in", "rows_out", "tokens"}:
                sums[name] = sums.get(name, 0) + value
    found: list[tuple[str, Any, str]] = [(name.replace("_", " "), value, "count") for name, value in sums.items()]
    found.append(("stored", sum(file.bytes for record in built for file in record.files), "size"))
    found.append(("CPU time", sum(float(one.statistics.get("cpu_seconds") or 0) for one in built), "duration"))
    return found


def _stage(view: View, stage: Stage) -> dict[str, Any]:
    graph = view.corpus.graph
    readers = [other.name for other in graph if any(edge.asset == stage.name for edge in other.inputs)]
    return {
        "name": stage.name,
        "description": stage.description,
        "group": stage.group,
        "reads": [(edge.asset, link("assets", edge.asset)) for edge in stage.inputs],
        "read_by": [(name, link("assets", name)) for name in readers],
        "columns": list(stage.columns.items()),
        "version": stage.code_version,
        "tokens": _tokens_link(view, stage),
    }


def _tokens_link(view: View, stage: Stage) -> str:
    """Returns the address of the token viewer if the asset holds token rows."""
    for entry in view.corpus.settings.values["datasets"]:
        if stage.name in {names.tokens(entry["name"]), names.sequences(entry["name"])}:
            return link("tokens", entry["name"])
    return ""


def partition(asked: Asked) -> str:
    """Shows one partition."""
    return _partition(asked, stage_of(asked.view, asked.path["asset"]), asked.path["partition"])


def _partition(asked: Asked, stage: Stage, key: str | None) -> str:
    view = asked.view
    record = record_of(view, stage.name, key)
    decision = view.planner().decisions(stage).get(key)
    number = asked.query.number("file", _main_file(record), high=max(0, len(record.files) - 1))
    start = asked.query.number("from")
    rows = _readable_rows(view, stage, record, number, start) if record.files else None

    def href(file: int, at: int = 0) -> str:
        own = partition_address(stage.name, key)
        return f"{own}?file={file}" + (f"&from={at}" if at else "")

    if rows is not None:
        rows["pages"] = pages(start, ROWS, rows["total"], lambda at: href(number, at)) if rows["total"] else None
    numbers = record.numbers
    dropped: dict[str, int] = numbers.get("dropped") or {}
    return page(
        asked,
        "partition.html",
        partition_name(stage.name, key),
        stage=_stage(view, stage),
        key=key,
        status=decision.status if decision else "orphan",
        reason=state_of(view, stage.name, key)[1] if decision is None or decision.status is not Status.FRESH else "",
        failed=short(view.failures(stage.name).get(key, ""), 500),
        created=record.created[:19].replace("T", " "),
        numbers=_numbers(record),
        dropped=[
            ({"text": plain(name), "href": _of_reason(stage.name, key, name), "value": plain(name)}, count)
            for name, count in sorted(dropped.items(), key=lambda item: -item[1])
        ],
        examples=_examples(numbers),
        tables=_tables(numbers),
        inputs=[(name, _input_link(view, name), digest) for name, digest in list(record.inputs.items())[:MOST_INPUTS]],
        more_inputs=max(0, len(record.inputs) - MOST_INPUTS),
        parameters=[(name, short(_json(value), 400)) for name, value in record.parameters.items()],
        facts=[
            ("recipe", record.recipe),
            ("content digest", record.digest),
            ("code version", record.code_version),
            *record.versions.items(),
        ],
        files=[(file.path, file.bytes, file.rows, file.derived, href(n)) for n, file in enumerate(record.files)],
        number=number,
        rows=rows,
        siblings=_siblings(view, stage, key),
    )


def _of_reason(asset: str, key: str | None, reason: str) -> str:
    """Returns the address of the documents that an asset dropped for a reason; empty if they are no documents."""
    if asset not in {"filtered_documents", "mixed_pass1"}:
        return ""
    return link("documents", source=(key or "").partition("--")[0], fate=reason)


def _examples(numbers: Mapping[str, Any]) -> list[str]:
    """Returns rows that were dropped, in words: some for each reason, where the record has them."""
    by_reason = numbers.get("dropped_rows") or {"": numbers.get("dropped_examples") or []}
    found = [f"{reason}: {text}" if reason else str(text) for reason, texts in by_reason.items() for text in texts]
    return [short(text) for text in found[:20]]


def _siblings(view: View, stage: Stage, key: str | None) -> dict[str, str]:
    keys = list(view.records(stage.name))
    place = keys.index(key)
    return {
        "before": link("assets", stage.name, keys[place - 1] or "") if place and key else "",
        "after": link("assets", stage.name, keys[place + 1] or "") if key and place + 1 < len(keys) else "",
    }


def _main_file(record: Record) -> int:
    """Returns the number of the file to show first: documents, then tokens, then any other."""
    numbered = list(enumerate(record.files))
    for suffix in (ENDINGS, ".h5"):
        for number, file in numbered:
            if file.path.endswith(suffix) and not file.derived:
                return number
    return next((number for number, file in numbered if not file.derived), 0)


def _numbers(record: Record) -> list[tuple[str, Any, str]]:
    """Returns the plain numbers of a record with their kind."""
    numbers = record.numbers
    found: list[tuple[str, Any, str]] = []
    for name, value in numbers.items():
        if name in _HIDDEN or isinstance(value, dict | list):
            continue
        kind = "count" if isinstance(value, int) and not isinstance(value, bool) else "text"
        if isinstance(value, float) and (name.endswith("_share") or name == "fill"):
            kind = "share"
        found.append((name.replace("_", " "), value if kind != "text" else short(str(value), 100), kind))
    for name, label in (("bytes", "raw bytes"), ("text_bytes", "text")):
        if isinstance(numbers.get(name), int):
            found.append((label, numbers[name], "size"))
    found.append(("stored", sum(file.bytes for file in record.files), "size"))
    for name, label in (("seconds", "took"), ("cpu_seconds", "CPU time")):
        if isinstance(numbers.get(name), int | float):
            found.append((label, numbers[name], "duration"))
    return found


def _tables(numbers: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns the numbers that are lists or mappings, as JSON."""
    return [
        (name.replace("_", " "), seen(_json(value, indent=2)[:5000]))
        for name, value in numbers.items()
        if isinstance(value, dict | list) and value and name not in _HIDDEN
    ]


def _json(value: Any, indent: int = 0) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=indent).decode()


def _input_link(view: View, name: str) -> str:
    """Returns the address of an input by its name in a recipe; empty if there is no such partition now."""
    if name in view.corpus.graph.stages:
        return link("assets", name)
    asset, _, key = name.rpartition("/")
    return link("assets", asset, key) if asset in view.corpus.graph.stages else ""


def _readable_rows(view: View, stage: Stage, record: Record, number: int, start: int) -> dict[str, Any]:
    """Returns some rows of a file; of one that cannot be read, why."""
    try:
        return {**_rows(view, stage, record, number, start), "damaged": ""}
    except UNREADABLE as error:
        if is_of_the_machine(error):
            raise
        blank = {"path": record.files[number].path, "total": 0, "note": "", "lines": [], "text": "", "tokens": ""}
        return {**blank, "damaged": said_of(error)}


def _rows(view: View, stage: Stage, record: Record, number: int, start: int) -> dict[str, Any]:
    """Returns some rows of a file of a partition, as the template shows them."""
    file, partition = record.files[number], view.handle(record)
    found: dict[str, Any] = {"path": file.path, "total": 0, "note": "", "lines": [], "text": "", "tokens": ""}
    if is_lines(record, file):
        lines = lines_at(partition, view.corpus.storage, file, start, ROWS)
        found["lines"] = [shown_line(stage.name, record, start + n, line) for n, line in enumerate(lines)]
        found["total"] = file.rows or 0
    elif is_array(file):
        found["note"], rows = array_rows(partition, file, start, ROWS)
        blank = {"href": "", "id": "", "source": ""}
        found["lines"] = [{"row": start + n, "text": row, **blank} for n, row in enumerate(rows)]
        found["total"] = _array_total(found["note"], file)
    elif file.path.endswith(".h5") or file.path.startswith("exports/"):
        found["tokens"] = _tokens_of(view, stage, file)
    if not found["lines"] and not found["tokens"]:
        found["text"] = seen("\n".join(first_rows(view.corpus.storage, file, ROWS))[:100_000])
    return found


def _array_total(described: str, file: FileRecord) -> int:
    return file.rows or 0 if "(" in described else 0


def _tokens_of(view: View, stage: Stage, file: FileRecord) -> str:
    for entry in view.corpus.settings.values["datasets"]:
        if stage.name == names.tokens(entry["name"]) and any(
            one.path == file.path for one in files_of(view, entry["name"])
        ):
            return link("tokens", entry["name"], file=file.path)
    return ""
