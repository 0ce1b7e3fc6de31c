"""Stages of streams: the rows of each shard, and the files into which those of several shards are put."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from typing_extensions import override

from corpus_assets.filter.assets import RuledHooks, hooks_of, with_rules, without_hooks
from corpus_assets.filter.filtered_documents import attributes_of, rules_of
from corpus_assets.filter.judging import RuleError, Rules
from corpus_assets.filter.losses import TALLIES, nothing_found
from corpus_assets.filter.rows import blocks
from corpus_assets.filter.rules.configured import configured_rules
from corpus_assets.filter.rules.entries import Entries, assets_named_in
from corpus_assets.filter.rules.expressions import merged
from corpus_assets.filter.rules.section import RuleSection
from corpus_assets.raw.readers import Limits, RawFile, json_lines
from corpus_assets.streams.rows import as_raw, packed, stream_line
from resources.documents.looked_for import LOOKED_FOR, LookedFor, missing, numbers_of
from resources.documents.row_rule import Row, RuleSet
from resources.errors import BadFileError
from resources.formats.codecs import LARGEST_WINDOW_BYTES
from resources.raw_places.files import printable
from resources.shards.listing import Shard
from resources.stage.counts import dropped_row
from resources.stage.declaration import Partitioning, Stage, every, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition
from resources.stage.partitions import in_order_of_paths
from resources.stage.task import Task

SIZE = "size"
"""Counters of the rows of a shard: bytes of its raw file, by which shards are put together."""

ROWS = "rows"
"""The segment with all rows of a file in zstd."""

COLUMNS = {
    "id": "string: that of the document in its source; given ones may repeat",
    "text": "string: as the rules of the stream leave it",
    "source": "string: the source, as corpus.yaml names it",
    "attributes": "json: name of each attribute to its spans, [start, end, value] in code points",
    "metadata": "json: everything else that was given with it",
}


@dataclass(frozen=True)
class Stream:
    """A stream for its stages.

    sources, glob: of its documents; glob None for all files.
    discard: keys that are left out.
    written: assets whose attributes are written.
    sets: its row rules.
    raw: True for the rows of the raw files.
    replaces: whether it replaces spans.
    """

    name: str
    sources: tuple[str, ...]
    glob: str | list[str] | None
    discard: tuple[str, ...]
    written: tuple[str, ...]
    sets: tuple[RuleSet, ...]
    raw: bool
    replaces: bool


def stream_documents(task: Task, stream: Stream) -> None:
    """Writes the rows of a shard that a stream keeps; nothing for a shard that it does not read."""
    shard = task.shard
    if not reads(shard, stream.sources, stream.glob):
        task.count(rows_in=0, rows_out=0)
        return
    documents = task.input("normalized_documents")
    rules, file = rules_of(task, stream.sets), shard.path.rpartition("/")[2]
    names = dict.fromkeys([*stream.written, *attributes_of(stream.sets)])
    looked_for = LookedFor("rows", {f"streams.{stream.name}.discard_fields": stream.discard} if stream.discard else {})
    seen = 0
    with task.lines(f"streams/{stream.name}/documents/{shard.source}/{shard.name}.jsonl.gz", indexed=True) as out:
        for row in _rows(task, stream, documents, [task.input(name) for name in names]):
            seen += 1
            try:
                judged = rules.judge(row)
            except RuleError as error:
                raise BadFileError(
                    f"{shard.label} (document {row.number}, id {row.document.id!r})", str(error)
                ) from error
            if judged.dropped is not None:
                rule, found = judged.dropped
                place, given = f"{shard.label} document {row.number}", row.document
                shown = dropped_row(place, given.id, given.text, found) if task.shows(rule) else None
                task.drop(rule, example=f"{shard.source}/{row.document.id}: {rule}: {found}", shown=shown)
                continue
            looked_for.add(merged(row).value) if stream.discard else None
            provenance = f"{file}:{row.number + 1}"
            out.write(stream_line(row, judged, provenance, stream.discard, attributes=bool(names)))
    task.save_counters(SIZE, {"bytes": shard.bytes})
    task.count(rows_in=seen, rows_out=out.written.rows, **_counted(rules, looked_for))


def _counted(rules: Rules, looked_for: LookedFor) -> dict[str, Any]:
    """Returns the statistics of searched names."""
    by_rules, of_rows = rules.looked_for().get(LOOKED_FOR, {}), numbers_of(looked_for).get(LOOKED_FOR, {})
    found = {TALLIES: rules.tallies(), LOOKED_FOR: {**by_rules, **of_rows}}
    return {name: value for name, value in found.items() if value}


def _rows(task: Task, stream: Stream, documents: Partition, attributes: Sequence[Partition]) -> Iterator[Row]:
    rows = (row for block in blocks(documents, attributes) for row in block.rows)
    shard = task.shard
    if not stream.raw:
        return rows
    # The documents were read from this file, so its windows are no larger than its source allows.
    limits = Limits(line_bytes=task["source.longest_row"], window=LARGEST_WINDOW_BYTES)
    lines = json_lines(RawFile(shard.path, task.raw.open, None), task["source.format"], limits)
    return as_raw(rows, lines, shard.label, same_texts=stream.replaces)


def stream(task: Task, name: str, max_size: int, codec: str, *, by_paths: bool) -> None:
    """Concatenates the rows of shards into files, by the bytes of their raw files.

    by_paths: whether in the order of their paths, as Dolma 1.2.1, and not of their keys.
    """
    write = {"gz": _put_together, "zst": _put_together_as_zstd}[codec]
    given = task.inputs(documents_asset(name))
    ordered = in_order_of_paths(given) if by_paths else given
    shards = {shard.name: shard for shard in ordered if shard.has(".jsonl.gz")}
    sizes = {key: shard.counters(SIZE)["bytes"] for key, shard in shards.items()}
    rows = 0
    for number, together in enumerate(packed(sizes, max_size)):
        rows += write(task, f"streams/{name}/{name}-{number:04}.jsonl", [shards[key] for key in together])
    task.count(rows_in=rows, rows_out=rows)


def _put_together(task: Task, path: str, shards: Iterable[Partition]) -> int:
    """Writes the rows of shards as they are stored; returns how many there are."""
    with task.lines(f"{path}.gz", indexed=True) as out:
        for shard in shards:
            for member, _ in shard.members(np.ones(shard.file(".jsonl.gz").rows or 0, dtype=np.bool_)):
                out.copy(member)
    return out.written.rows


def _put_together_as_zstd(task: Task, path: str, shards: Iterable[Partition]) -> int:
    """Writes the rows of shards, packed again; returns how many there are."""
    with task.segmented(f"{path}.zst", [ROWS]) as out:
        for line in chain.from_iterable(shard.lines() for shard in shards):
            out.write(ROWS, line)
    return out.written.rows


def reads(shard: Shard, sources: Sequence[str] | None, glob: str | list[str] | None) -> bool:
    """Returns whether a stream has the documents of a shard. sources, glob: None for all."""
    return shard.is_among(sources, glob)


def documents_asset(name: str) -> str:
    """Returns the asset with the rows of each shard in a stream."""
    return f"{name}_stream_documents"


def stream_stages(sections: Iterable[Mapping[str, Any]], entries: Entries, sources: Sequence[str]) -> Iterator[Stage]:
    """Yields the stages of each entry of `streams`. sources: all."""
    for values in sections:
        section = RuleSection(values, entries, f"streams.{values['name']}")
        sets = configured_rules(section)
        chosen = Stream(
            name=values["name"],
            sources=tuple(values["sources"] or sources),
            glob=values["glob"],
            discard=tuple(values["discard_fields"]),
            written=assets_named_in((), values["attributes"], entries, section.where),
            sets=without_hooks(sets),
            raw=values["compat"] == "dolma",
            replaces=bool(values["span_replacement"]),
        )
        yield with_rules(_documents_stage(chosen, section, hooks_of(sets)), sets)
        if values["max_size"] is not None:
            yield _packed_stage(chosen, values["max_size"], values["codec"])


@dataclass(frozen=True)
class RowsHooks(RuledHooks):
    """The hooks of the rows of a stream. own: their parameters besides its rules."""

    stream: Stream
    own: Values

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {**self.own, **super().derived_parameters(settings)}

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        """Yields the patterns that no file matches, the rules that find nothing, and names that no row has."""
        stream, where = self.stream, f"streams.{self.stream.name}"
        shards = [partition.shard for partition in partitions if partition.shard is not None]
        for glob in [stream.glob] if isinstance(stream.glob, str) else stream.glob or []:
            if shards and not any(reads(shard, stream.sources, glob) for shard in shards):
                paths = (printable(shard.path) for shard in shards)
                yield missing(f"{where}.glob {glob!r}", len(shards), "files", paths, verb="matches")
        yield from nothing_found(partitions, where)


@dataclass(frozen=True)
class FilesHooks(Hooks):
    """The hooks of the files of a stream."""

    stream: str
    max_size: int
    codec: str
    by_paths: bool

    @override
    def derived_parameters(self, settings: Values) -> Values:
        """Returns the size, and codec and order if they are others than there were before there was a choice."""
        key = f"streams.{self.stream}"
        codec = {f"{key}.codec": self.codec} if self.codec != "gz" else {}
        order = {f"{key}.order of shards": "paths"} if self.by_paths else {}
        return {f"{key}.max_size": self.max_size, **codec, **order}


def _documents_stage(chosen: Stream, section: RuleSection, of_rules: tuple[Hooks, ...]) -> Stage:
    narrowed = () if chosen.glob is None else ("glob",)
    own = section.parameters("sources", "attributes", "discard_fields", "compat", *narrowed)
    return Stage(
        name=documents_asset(chosen.name),
        group="streams",
        unit_in="documents",
        unit_out="documents",
        description=f"Documents of stream {chosen.name} with their attributes, filtered, of one shard.",
        partitioning=Partitioning.SHARD,
        compute=partial(stream_documents, stream=chosen),
        code_version="2" if chosen.raw else "1",  # With numbers as the toolkit reads them.
        io="documents",
        inputs=tuple(map(same, ("raw_source", "normalized_documents", *chosen.written))),
        parameters=("source.format", "source.longest_row") if chosen.raw else (),
        hooks=RowsHooks(of_rules, chosen, own),
        columns=COLUMNS,
        kinds=("jsonl", "dolma"),
    )


def _packed_stage(chosen: Stream, max_size: int, codec: str) -> Stage:
    name, by_paths = chosen.name, chosen.raw
    return Stage(
        name=f"{name}_stream",
        group="streams",
        unit_in="documents",
        unit_out="documents",
        description=f"Files of stream {name}: the rows of several shards one after another.",
        partitioning=Partitioning.NONE,
        compute=partial(stream, name=name, max_size=max_size, codec=codec, by_paths=by_paths),
        code_version="1",
        io="records",
        inputs=(every(documents_asset(name)),),
        hooks=FilesHooks(name, max_size, codec, by_paths),
        columns=COLUMNS,
        kinds=("jsonl", "dolma"),
    )
