"""Finds the streams of documents that hold a document: their rows record its number in its file."""

from collections.abc import Iterator
from typing import Any

import msgspec

from corpus_assets.streams.assets import documents_asset, reads
from corpus_assets.tracing.kept_rows import not_built
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.step import Step
from resources.formats.jsonl.compressions import JSONL
from resources.stage.partition import Partition


class _Line(msgspec.Struct):
    metadata: dict[str, Any]


_LINE = msgspec.json.Decoder(_Line)


def streamed(look: Look, documents: Partition, number: int) -> Iterator[Step]:
    """Yields a step for each stream of the document's source. number: of the document before the filter."""
    key, shard = documents.key or "", look.planner.shard(documents.key)
    for entry in look.corpus.settings.values["streams"]:
        if shard is None or not reads(shard, entry["sources"], entry["glob"]):
            continue
        asset = documents_asset(entry["name"])
        made = look.partition(asset, key)
        if made is None:
            yield not_built(look, asset, key)
            continue
        provenance = f"{shard.path.rpartition('/')[2]}:{number + 1}"
        row, stale = _row(made, provenance), look.state(asset, key)
        if row is not None:
            file = made.file(JSONL).path
            yield Step(asset, key, "here", f"row {row:,} of the stream's shard", None, row, file, stale=stale)
            continue
        dropped = made.record.statistics.get("dropped", {})
        words = "a rule of the stream dropped it: " + (", ".join(dropped) or "it was made of other documents")
        yield Step(asset, key, "dropped", words, " or ".join(dropped) or None, stale=stale)


def _row(made: Partition, provenance: str) -> int | None:
    """Returns the row of a stream that was made of a document; None if there is none."""
    sought = b'"provenance":' + msgspec.json.encode(provenance)
    for row, line in enumerate(made.lines()):
        if sought in line and _LINE.decode(line).metadata.get("provenance") == provenance:
            return row
    return None
