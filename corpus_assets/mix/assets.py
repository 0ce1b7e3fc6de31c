"""Mixing: pass 1 scatters each shard over the chunks, pass 2 shuffles each chunk."""

from collections.abc import Iterator
from itertools import takewhile

import numpy as np

from corpus_assets.mix.scatter import scatter
from corpus_assets.mix.shuffle import in_order, keyed_order, slimpajama_order
from resources.attributes import DUPLICATE, FLAGS, SHORT, flags
from resources.documents import DOCUMENT_COLUMNS
from resources.graph import Partitioning, Stage, same, segment
from resources.hashing import content_digest
from resources.rows import ROW, Rows, pack_row, packed_rows
from resources.segments import Segment
from resources.settings import chunk_key
from resources.task import Part, Task


def mixed_pass1(task: Task) -> None:
    """Scatter a shard's kept documents over the chunks: one seekable file with a segment per chunk."""
    source, path = task.shard.source, f"mixed/pass1/{task.shard.source}/{task.shard.name}"
    chunks = [chunk_key(chunk) for chunk in range(task["mix.chunks"])]
    packed = {chunk: bytearray() for chunk in chunks}
    kept = _Kept(task)
    placed = scatter(kept, source=source, epochs=task["source.epochs"], seed=task["mix.seed"], chunks=len(chunks))
    with task.segmented(f"{path}.jsonl.zst", chunks) as out:
        for use in placed:
            chunk = chunks[use.chunk]
            out.write(chunk, use.line)
            packed[chunk] += pack_row(use.order, use.copy, use.size, source.encode(), use.digest)
    uses = first_uses = text_bytes = 0
    with task.array(f"{path}.rows.npy", ROW) as table:
        for chunk in chunks:
            rows = packed_rows(packed[chunk])
            table.append(rows)
            task.segments[chunk] = content_digest(out.index[chunk].digest.encode(), packed[chunk])
            uses += len(rows)
            first_uses += int((rows["copy"] == 0).sum())
            text_bytes += int(rows["bytes"].sum(dtype=np.uint64))
    if kept.count > first_uses:
        task.drop("not_in_this_epoch", kept.count - first_uses)
    task.count(rows_in=kept.seen, rows_out=uses, documents=first_uses, repeats=uses - first_uses)
    task.count(text_bytes=text_bytes)


class _Kept:
    """A shard's documents without the short ones and the duplicates, which are counted."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self.seen = 0
        self.count = 0

    def __iter__(self) -> Iterator[tuple[bytes, bytes, int]]:
        task = self._task
        documents = task.input("normalized_documents")
        texts = documents.array(".texts.npy")
        digests = np.ascontiguousarray(texts["digest"]).tobytes()
        short = flags(task.input("short_documents").lines(), SHORT)
        duplicate = flags(task.input("duplicates").lines(), DUPLICATE)
        rows = zip(documents.lines(), texts["bytes"].tolist(), short, duplicate, strict=True)
        for row, (line, size, is_short, is_duplicate) in enumerate(rows):
            self.seen += 1
            if is_short or is_duplicate:
                task.drop("short" if is_short else "duplicate")
                continue
            self.count += 1
            yield line, digests[32 * row : 32 * row + 32], size


def mixed_pass2(task: Task) -> None:
    """Shuffle one chunk: the segments of all shards, in keyed order."""
    chunk = task.key
    parts = task.inputs("mixed_pass1")
    cuts = [_cut(part, chunk) for part in parts]
    tables = [_rows(part, *cut) for part, cut in zip(parts, cuts, strict=True)]
    rows = np.concatenate([np.empty(0, ROW), *tables])
    if task["mix.order"] == "slimpajama":
        order = slimpajama_order(len(rows), task["mix.seed"])
    else:
        order = keyed_order(rows["order"], rows["copy"])
    size = sum(cut.bytes for _, cut in cuts)
    lines = (line for part, (_, cut) in zip(parts, cuts, strict=True) for line in part.segment_lines(cut))
    with task.lines(f"mixed/pass2/{chunk}.jsonl.gz") as out:
        for line in in_order(lines, order, size, task.memory, task.pending.scratch):
            out.write(line)
    task.save_array(f"mixed/pass2/{chunk}.rows.npy", rows[order])
    text_bytes = int(rows["bytes"].sum(dtype=np.uint64))
    task.count(rows_in=len(rows), rows_out=len(rows), text_bytes=text_bytes)


def _rows(part: Part, start: int, cut: Segment) -> Rows:
    """A copy, so that no shard's file stays mapped."""
    return np.array(part.array(".rows.npy")[start : start + cut.rows])


def _cut(part: Part, chunk: str) -> tuple[int, Segment]:
    """Where a chunk's segment of a shard lies, and the number of its first row in the shard's row table."""
    index = part.segments()
    before = takewhile(lambda name: name != chunk, index)
    return sum(index[name].rows for name in before), index[chunk]


STAGES = [
    Stage(
        name="mixed_pass1",
        group="mix",
        description="A shard's kept documents scattered over the chunks by keyed hash, as often as its epochs say.",
        partitioning=Partitioning.SHARD,
        compute=mixed_pass1,
        code_version="1",
        kind="documents",
        inputs=(same("normalized_documents"), same("short_documents"), same("duplicates", part=FLAGS)),
        parameters=("mix.chunks", "mix.seed", "source.epochs"),
        columns=DOCUMENT_COLUMNS,
        tools=("jsonl", "zstandard"),
    ),
    Stage(
        name="mixed_pass2",
        group="mix",
        description="One chunk of the mixed corpus: documents of all shards in shuffled order.",
        partitioning=Partitioning.CHUNK,
        compute=mixed_pass2,
        code_version="1",
        kind="documents",
        inputs=(segment("mixed_pass1"),),
        parameters=("mix.order", "mix.seed"),
        columns=DOCUMENT_COLUMNS,
        tools=("jsonl", "dolma"),
    ),
]
