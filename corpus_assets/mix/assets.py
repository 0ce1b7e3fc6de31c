"""Stages of mixing: pass 1 scatters each shard over the chunks, pass 2 shuffles each chunk."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from typing_extensions import override

from corpus_assets.licences.documents import NONE, Count, Licences, metadata_of, names_of
from corpus_assets.mix.cuts import cuts_of, lines_of, lines_part, rows_of
from corpus_assets.mix.kept import LEAVE_OUT, REASONS, flags_of_all
from corpus_assets.mix.losses import mixed_losses
from corpus_assets.mix.repeat import NOT_USED
from corpus_assets.mix.scatter import Kept, scatter
from corpus_assets.mix.shuffle import in_order, keyed_order, slimpajama_order
from corpus_assets.mix.units.dimensions import Dimension
from corpus_assets.mix.units.stages import read_by, unit_stages
from corpus_assets.mix.units.uses import BORDERS, Uses
from resources.documents.looked_for import LookedFor, absent_names, numbers_of
from resources.documents.row_counts import SourcesOfRows
from resources.errors import ConfigError
from resources.formats.documents import DOCUMENT_COLUMNS, decode_document
from resources.formats.row_tables import ORIGINS, ROW, SHARDS, identifiers, pack_row, packed_rows
from resources.hashing import content_digest
from resources.shards.listing import Listing
from resources.stage.counts import dropped_row
from resources.stage.declaration import Partitioning, Stage, own_segment, same
from resources.stage.hooks import Hooks, Records, Values
from resources.stage.partition import Partition
from resources.stage.settings import chunk_key
from resources.stage.task import Task

LICENCE_KEY = "source.licence_key"


def mixed_pass1(task: Task, by_score: Uses | None = None) -> None:
    """Scatters a shard's kept documents over the chunks: writes one seekable file with a segment per chunk."""
    source, path = task.shard.source, f"mixed/pass1/{task.shard.source}/{task.shard.name}"
    chunks = [chunk_key(chunk) for chunk in range(task["mix.chunks"])]
    packed = {chunk: bytearray() for chunk in chunks}
    how = by_score or Uses()
    kept = _KeptDocuments(task, how)
    placed = scatter(
        kept,
        source=source,
        epochs=task["source.epochs"],
        seed=task["mix.seed"],
        chunks=len(chunks),
        place=how.place(task),
    )
    with task.segmented(f"{path}.jsonl.zst", chunks) as out:
        for use in placed:
            chunk = chunks[use.chunk]
            out.write(chunk, use.line)
            if use.copy == 0:
                kept.used(use.line, use.size)
            packed[chunk] += pack_row(use.order, use.copy, use.size, source.encode(), use.digest)
    uses = first_uses = text_bytes = 0
    with task.array(f"{path}.rows.npy", ROW) as table:
        for chunk in chunks:
            rows = packed_rows(packed[chunk])
            table.append(rows)
            task.segments[chunk] = content_digest(lines_part(out.index[chunk]), packed[chunk])
            uses += len(rows)
            first_uses += int((rows["copy"] == 0).sum())
            text_bytes += int(rows["bytes"].sum(dtype=np.uint64))
    task.count(rows_in=kept.seen, rows_out=uses, documents=first_uses, repeats=uses - first_uses)
    task.count(text_bytes=text_bytes, **kept.licences())


class _KeptDocuments:
    """A shard's documents without flagged ones, which count for the first attribute that flags them."""

    def __init__(self, task: Task, how: Uses) -> None:
        self._task = task
        self._how = how
        self._scores = how.looked_for()
        self.seen = 0
        self.count = 0
        self._is_used = False
        key = task.parameters.get(LICENCE_KEY)
        self._licence = Licences(None, key).of_line if key else None
        self._by_licence = Count()
        self._looked_for = LookedFor("documents", {f"sources.{task.shard.source}.licence_key": [key]} if key else {})

    def used(self, line: bytes, size: int) -> None:
        """Notes the first use of a document."""
        self._is_used = True
        if self._licence:
            found = self._licence(line)
            self._by_licence.add(found, size)
            names = names_of(metadata_of(line)) if self._looked_for.needs_names else ()
            self._looked_for.add(names, [] if found == NONE else [self._task.parameters[LICENCE_KEY]])

    def licences(self) -> dict[str, Any]:
        """Returns documents and bytes by licence, if documents state licences."""
        found = {"licences": self._by_licence.numbers()} if self._licence else {}
        return {**found, **numbers_of(self._looked_for, self._scores)}

    def __iter__(self) -> Iterator[Kept]:
        task = self._task
        documents = task.input("normalized_documents")
        texts = documents.array(".texts.npy")
        digests = np.ascontiguousarray(texts["digest"]).tobytes()
        left_out = task[LEAVE_OUT]
        reasons = [REASONS.get(name, name) for name in left_out]
        flags = flags_of_all([task.input(name) for name in left_out], len(texts))
        ids = identifiers(texts["id_end"], documents.array(".ids.npy"))
        how = self._how.of_rows(task, self._scores)
        rows = zip(ids, documents.lines(), texts["bytes"].tolist(), flags, how, strict=True)
        for row, (identifier, line, size, flagged, use) in enumerate(rows):
            self.seen += 1
            if any(flagged):
                reason = reasons[flagged.index(True)]
                task.drop(reason, shown=self._shown(reason, row, identifier, line))
                continue
            self.count += 1
            self._is_used = False
            yield Kept(identifier, line, digests[32 * row : 32 * row + 32], size, use.times, use.score)
            if not self._is_used:
                task.drop(NOT_USED, shown=self._shown(NOT_USED, row, identifier, line))

    def _shown(self, reason: str, row: int, identifier: str, line: bytes) -> str | None:
        """Returns a dropped document in words, as long as more are to be shown."""
        if not self._task.shows(reason):
            return None
        return dropped_row(f"{self._task.shard.label} document {row}", identifier, decode_document(line).text)


def mixed_pass2(task: Task) -> None:
    """Shuffles one chunk: writes its segments of all shards in keyed order."""
    chunk, shards = task.key, task.inputs("mixed_pass1")
    cuts = cuts_of(shards, chunk, task.memory)
    rows = rows_of(shards, chunk, cuts, task.memory)
    if task["mix.order"] == "slimpajama":
        order = slimpajama_order(len(rows), task["mix.seed"])
    else:
        order = keyed_order(rows["order"], rows["copy"])
    size = sum(segment.bytes for segment in cuts.segments)
    lines = lines_of(shards, cuts, task.memory)
    with task.lines(f"mixed/pass2/{chunk}.jsonl", indexed=True) as out:
        for line in in_order(lines, order, size, task.memory, task.scratch):
            out.write(line)
    task.save_array(f"mixed/pass2/{chunk}.rows.npy", rows[order])
    used = np.flatnonzero(cuts.rows).tolist()
    origins = np.repeat(np.arange(len(used), dtype="<u4"), cuts.rows[used])
    task.save_array(f"mixed/pass2/{chunk}{ORIGINS}", origins[order], derived=True)
    keys = [shards[position].key for position in used]
    task.save_json(f"mixed/pass2/{chunk}{SHARDS}", keys, rows=len(used), derived=True)
    text_bytes = int(rows["bytes"].sum(dtype=np.uint64))
    task.count(rows_in=len(rows), rows_out=len(rows), text_bytes=text_bytes)
    task.count(by_source=SourcesOfRows(rows).documents())


def mix_stages(leave_out: Sequence[str], dimensions: Sequence[Dimension] = (), uses: Uses | None = None) -> list[Stage]:
    """Returns the stages of the two passes, and those of units.

    leave_out: attributes whose flagged documents stay out of the mix. dimensions: what units are made of. uses: how
    documents are used by scores.
    """
    uses = uses or Uses()
    first = replace(PASS_1, inputs=read_by([*uses.subjects.values()], leave_out))
    if uses.subjects:
        first = replace(
            first,
            compute=partial(mixed_pass1, by_score=uses),
            inputs=(*first.inputs, *([same(BORDERS)] if uses.order else ())),
            parameters=(*first.parameters, *uses.subjects),
        )
    return [*unit_stages(dimensions, uses, leave_out), first, PASS_2]


def require_attributes(leave_out: Sequence[str], stages: Iterable[Stage]) -> None:
    """Raises `ConfigError` unless each name is an asset with a row for every document of a shard."""
    known = {stage.name: stage for stage in stages}
    for name in leave_out:
        if name not in known:
            raise ConfigError(f"{LEAVE_OUT}: no asset named {name!r}; assets are: {', '.join(known)}")
        stage = known[name]
        if (stage.partitioning, stage.io, stage.shard_set) != (Partitioning.SHARD, "documents", None):
            raise ConfigError(
                f"{LEAVE_OUT}: {name!r} is not an attribute, which has a row for every document of a shard"
            )


class Pass1Hooks(Hooks):
    """The hooks of pass 1."""

    @override
    def source_parameters(self, source: Values) -> Values:
        """Returns the key under which documents of a source state their licence; empty without one."""
        key = source.get("licence_key")
        return {LICENCE_KEY: key} if key else {}

    @override
    def reasons(self, settings: Values) -> Sequence[str]:
        return [*(REASONS.get(name, name) for name in settings["mix"]["leave_out"]), NOT_USED]

    @override
    def gate_all(self, records: Records, settings: Values, listing: Listing) -> Sequence[str]:
        return mixed_losses(records, settings, listing)

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        return absent_names(partitions, settings)


PASS_1 = Stage(
    name="mixed_pass1",
    group="mix",
    unit_in="documents",
    unit_out="documents",
    description="A shard's kept documents scattered over the chunks by keyed hash, as often as its epochs say.",
    partitioning=Partitioning.SHARD,
    compute=mixed_pass1,
    code_version="1",
    io="documents",
    parameters=("mix.chunks", "mix.seed", LEAVE_OUT, "source.epochs"),
    hooks=Pass1Hooks(),
    columns=DOCUMENT_COLUMNS,
    kinds=("jsonl", "zstandard"),
)

PASS_2 = Stage(
    name="mixed_pass2",
    group="mix",
    unit_in="documents",
    unit_out="documents",
    description="One chunk of the mixed corpus: documents of all shards in shuffled order.",
    partitioning=Partitioning.CHUNK,
    compute=mixed_pass2,
    code_version="1",
    io="documents",
    inputs=(own_segment("mixed_pass1"),),
    parameters=("mix.order", "mix.seed"),
    columns=DOCUMENT_COLUMNS,
    kinds=("jsonl", "dolma"),
)
