"""`manifest.json`: facts that no trainer's format holds, above all the tokenizer of its ids."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpus_assets.config.datasets.exports import format_name
from corpus_assets.config.datasets.masked import MaskedExport
from corpus_assets.export.format import Build, Format, ids_in_files, places_of, totals_of
from corpus_assets.export.masked.figures import row_figures, shown
from corpus_assets.export.token_stream import sums_by_source
from corpus_assets.tokenize.counts.manifest import MANIFEST, VERSION, described, told
from resources.stage.partition import Partition
from resources.stage.task import Task


def write_manifest(
    task: Task, build: Build[Any], known: Format[Any], made: Sequence[Partition], mix: Mapping[str, Any] | None
) -> None:
    """Writes the index files of a format, and last of all the manifest.

    made: partitions with the files. mix: how often the documents of each source are used; None without weights.
    """
    if known.finish is not None:
        known.finish(task, build, made)
    totals, section = totals_of(made), build.section
    packed = row_figures(section, totals) if isinstance(section, MaskedExport) and section.has_rows else None
    value = {
        "version": VERSION,
        "dataset": build.name,
        "format": format_name(build.section),
        "unit": known.unit_of(build.section),
        "type": _type(build, known, made),
        "tokenizer": told(build.tokenizer),
        "separator": _separator(build),
        **({"convention": section.convention} if section.tells_learned else {}),
        "options": dict(task.parameters),
        **totals,
        **({} if packed is None else {"packing": packed}),
        "sources": {source: dict(numbers) for source, numbers in sums_by_source(made).items()},
        **({} if mix is None else {"mixture": mix}),
        "files": [*_files(made, build), *({**entry} for entry in _own_files(task, build))],
    }
    task.save_json(build.path(MANIFEST), value, rows=1)
    tokens = ids_in_files(totals, totals["dropped"])
    task.count(rows_out=totals.get("units", 0), tokens=tokens, documents=totals.get("documents", 0))
    task.count(discarded={reason: lost["documents"] for reason, lost in totals["dropped"].items()})
    if packed is not None:
        task.count(**shown(packed))


def _type(build: Build[Any], known: Format[Any], made: Sequence[Partition]) -> str | None:
    """Returns the type of the ids in the files; None if there are no files."""
    for partition in made:
        for place in places_of(partition)[:1]:
            with partition.open(place.path) as file:
                return next((str(block.dtype) for block in known.read(file, build)), None)
    return None


def _separator(build: Build[Any]) -> dict[str, Any]:
    if build.around is not None:
        return {"where": "around", "before": build.around[0], "after": build.around[1]}
    id_ = build.before if build.before is not None else build.after
    return {"where": build.section.separator, "id": id_}


def _files(made: Sequence[Partition], build: Build[Any]) -> Iterator[dict[str, Any]]:
    """Yields every file of all partitions, with its checksum and what it holds."""
    for partition in made:
        units, ids = Counter[str](), Counter[str]()
        for place in places_of(partition):
            units[place.path] += place.units
            ids[place.path] += place.ids
        for file in (file for file in partition.record.files if file.path.startswith(build.path(""))):
            holds = {"units": units[file.path], "ids": ids[file.path]} if file.path in units else {}
            yield described(file.path, build.path(""), file.digest, file.bytes) | holds


def _own_files(task: Task, build: Build[Any]) -> Iterator[dict[str, Any]]:
    """Yields the files that were written with the manifest; their sizes are known when they are published."""
    for file in task.files:
        yield described(file.path, build.path(""), file.digest)
