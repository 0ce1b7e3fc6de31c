"""The first page: the corpus in numbers, its sources, and every stage with its state."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.text_exports import is_text
from corpus_assets.orchestration.shown.figures import plain
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.site import Asked, link, page, short
from resources.ledger.records import Record, partition_name
from resources.planning.planner import Planner, Status
from resources.stage.declaration import Stage

MOST_FAILED = 50
DROPPING = {"normalized_documents": "raw rows", "filtered_documents": "documents", "mixed_pass1": "documents"}
SOURCE_ASSETS = ("raw_source", "normalized_documents", "duplicates")


def overview(asked: Asked) -> str:
    """Shows the corpus as a whole."""
    view = asked.view
    found = view.looks.get("overview", lambda: _found(view))
    return page(asked, "overview.html", view.corpus.config.name, when=view.looks.when("overview"), **found)


def _found(view: View) -> dict[str, Any]:
    planner = view.planner()
    statuses = {stage.name: _statuses(planner, stage) for stage in planner.graph}
    total = sum(statuses.values(), Counter[str]())
    datasets = dataset_rows(view)
    return {
        "tiles": _tiles(view, planner, total),
        "sources": _sources(view),
        "datasets": datasets,
        "token_columns": [entry["name"] for entry in datasets if entry["by_source"]],
        "tokens_of": _tokens_by_source(datasets),
        "stages": [_stage(view, stage, statuses[stage.name]) for stage in planner.graph],
        "failed": [one for stage in planner.graph for one in _failed(view, stage)][:MOST_FAILED],
        "dropped": list(_dropped(view)),
        "more_pages": [(words, link(name)) for name, words, there in _more_pages(view) if there],
        "orphans": len(planner.orphans()),
        "not_fresh": total.total() - total[Status.FRESH],
    }


def _failed(view: View, stage: Stage) -> Iterator[tuple[str, str, str]]:
    """Yields each partition that failed the last time, with its address and the reason."""
    for key, words in view.failures(stage.name).items():
        href = link("assets", stage.name, **({} if key is None else {"find": key}))
        yield partition_name(stage.name, key), href, short(words, 300)


def _dropped(view: View) -> Iterator[tuple[str, str, str, int, float | None]]:
    """Yields why documents or raw rows are gone: asset, reason, address of examples with their text, number, share."""
    for asset, unit in DROPPING.items():
        records = list(view.present(asset).values())
        total: Counter[str] = Counter()
        for record in records:
            total.update({reason: int(count) for reason, count in (record.numbers.get("dropped") or {}).items()})
        read = _sum(records, "rows_in")
        for reason, count in total.most_common():
            href = link("documents", fate=reason) if unit == "documents" else link("assets", asset)
            yield asset, plain(reason), href, count, count / read if read else None


def _more_pages(view: View) -> Iterator[tuple[str, str, bool]]:
    values = view.corpus.settings.values
    yield "facets", "documents in numbers", bool(values["sources"])
    yield "benchmarks", "benchmarks item by item", bool(values["benchmarks"])
    yield "origins", "domains, hosts and years of the documents of train", values["origins"] is not None
    yield "card", "the card, and what is still to be written in it", values["card"] is not None


def _statuses(planner: Planner, stage: Stage) -> Counter[str]:
    return Counter(str(decision.status) for decision in planner.decisions(stage).values())


def _tiles(view: View, planner: Planner, total: Counter[str]) -> list[tuple[str, str, str]]:
    from corpus_assets.numbers import count, size

    stored = sum(file.bytes for stage in planner.graph for file in _files(planner.records(stage.name).values()))
    documents = _sum(view.present("normalized_documents").values(), "rows_out") if view.corpus.config.sources else None
    stale = total.total() - total[Status.FRESH]
    return [
        ("sources", count(len(view.corpus.settings.values["sources"])), ""),
        ("documents read", count(documents), ""),
        ("datasets", count(len(view.corpus.settings.values["datasets"])), ""),
        ("stored", size(stored), ""),
        ("partitions", count(total.total()), "all fresh" if not stale else f"{count(stale)} are not fresh"),
    ]


def _files(records: Iterable[Record]) -> Iterable[Any]:
    return (file for record in records for file in record.files)


def _sum(records: Iterable[Record], name: str) -> int:
    return sum(int(record.numbers.get(name) or 0) for record in records)


def _sources(view: View) -> list[dict[str, Any]]:
    """Returns the sources in the order of the configuration, with what was read of each and what duplicates took."""
    records = {asset: _by_source(view, asset) for asset in SOURCE_ASSETS if asset in view.corpus.graph.stages}
    rows = []
    for source in view.corpus.settings.values["sources"]:
        raw, documents, duplicates = (records.get(asset, {}).get(source["name"], []) for asset in SOURCE_ASSETS)
        read = _sum(documents, "rows_out")
        gone = _sum(duplicates, "duplicates")
        rows.append(
            {
                "name": source["name"],
                "licence": "of each document" if source.get("licence_key") else source.get("licence") or "not given",
                "files": len(raw),
                "bytes": _sum(raw, "bytes"),
                "documents": read if documents else None,
                "text": _sum(documents, "text_bytes") if documents else None,
                "duplicates": gone if duplicates else None,
                "share": gone / read if duplicates and read else None,
                "href": link("documents", source=source["name"]),
            }
        )
    return rows


def _by_source(view: View, asset: str) -> Mapping[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for key, record in view.present(asset).items():
        found.setdefault((key or "").partition("--")[0], []).append(record)
    return found


def dataset_rows(view: View) -> list[dict[str, Any]]:
    """Returns all datasets in numbers."""
    return [_dataset(view, entry) for entry in view.corpus.settings.values["datasets"]]


def _dataset(view: View, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a dataset in numbers; what its records do not count is None."""
    name = entry["name"]
    records = list(view.present(names.files(entry)).values())
    stats = [record.numbers.get("h5_dataset_stats", {}) for record in records]
    hdf5 = any(stats)
    positions = sum(one.get("num_tokens", 0) for one in stats)
    texts = is_text(entry)
    tokens = None if texts else _tokens(view, name, records)
    totals = [record.numbers.get("totals", {}) for record in records]
    learned = [int(one["learned"]) for one in totals if "learned" in one]
    return {
        "name": name,
        "href": link("assets", names.files(entry)) if texts else link("tokens", name),
        "input": entry["input"] if isinstance(entry["input"], str) else "files of its own",
        "written": entry.get("mode") if hdf5 else entry.get("format", entry.get("mode", "")),
        "rows": _sum(records, "rows_out"),
        "tokens": tokens,
        "loss": sum(one.get("loss_valid_tokens", 0) for one in stats) if hdf5 else sum(learned) if learned else None,
        "fill": tokens / positions if tokens and positions else None,
        "stored": sum(file.bytes for file in _files(records)),
        "by_source": {} if texts else _by_source_of(view, name, records),
        "built": bool(records),
    }


def _by_source_of(view: View, name: str, records: Iterable[Record]) -> Counter[str]:
    return _tokens_of_sources(records) or _tokens_of_sources(_built(view, names.sequences(name)))


def _built(view: View, asset: str) -> Iterable[Record]:
    return view.present(asset).values()


def _tokens_of_sources(records: Iterable[Record]) -> Counter[str]:
    """Returns the tokens of each source; a shuffled dataset counts them before its rows are shuffled."""
    found: Counter[str] = Counter()
    for record in records:
        for source, numbers in (record.numbers.get("by_source") or {}).items():
            found[source] += int(numbers.get("tokens", 0))
    return found


def _tokens(view: View, name: str, records: Iterable[Record]) -> int:
    """Returns the tokens of a dataset: as its summary counts them, else the sum over its partitions."""
    for asset in (names.params(name), names.manifest(name)):
        summary = view.records(asset).get(None) if asset in view.corpus.graph.stages else None
        if summary is not None and isinstance(summary.statistics.get("tokens"), int):
            return int(summary.statistics["tokens"])
    return _sum(records, "tokens")


def _tokens_by_source(datasets: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Returns the tokens of each source, by dataset."""
    found: dict[str, dict[str, int]] = {}
    for dataset in datasets:
        for source, tokens in dataset["by_source"].items():
            found.setdefault(source, {})[dataset["name"]] = tokens
    return found


def _stage(view: View, stage: Stage, statuses: Counter[str]) -> dict[str, Any]:
    records = view.present(stage.name)
    failed = len(view.failures(stage.name))
    return {
        "name": stage.name,
        "href": link("assets", stage.name),
        "group": stage.group,
        "description": stage.description,
        "partitions": sum(statuses.values()),
        "fresh": statuses[Status.FRESH],
        "state": state_words(statuses) + (f", {failed:,} failed" if failed else ""),
        "rows": _sum(records.values(), "rows_out") or None,
        "stored": sum(file.bytes for file in _files(records.values())) or None,
        "cpu": sum(float(record.statistics.get("cpu_seconds") or 0) for record in records.values()) or None,
    }


def state_words(statuses: Mapping[str, int]) -> str:
    """Returns in words how many partitions are not fresh: `2 stale, 1 waiting`; `fresh` if all are."""
    others = [f"{number:,} {status}" for status, number in statuses.items() if status != Status.FRESH and number]
    return ", ".join(others) or ("fresh" if statuses else "no partitions")
