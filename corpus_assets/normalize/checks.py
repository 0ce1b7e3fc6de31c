"""Checks that an attribute has one row for each document, in the same order."""

from itertools import zip_longest

import dagster as dg
import msgspec

from corpus_assets.checking import Built, asset_key, current_partitions, mixed_documents, result
from corpus_assets.faults import UNREADABLE
from resources.formats.jsonl.compressions import JSONL
from resources.hashing import keyed_hash
from resources.stage.partition import Partition

ROW_ALIGNMENT = "row_alignment"
MAX_SHARDS_READ = 64


class _Id(msgspec.Struct):
    id: str


_DECODER = msgspec.json.Decoder(_Id)


def misaligned(documents: Partition, attributes: Partition) -> str | None:
    """Returns in words the first row where the ids of documents and attributes differ; None if all agree."""
    try:
        for row, pair in enumerate(zip_longest(documents.lines(), attributes.lines())):
            ids = [None if line is None else _DECODER.decode(line).id for line in pair]
            if ids[0] != ids[1]:
                return f"{documents.key} row {row}: document {ids[0]!r}, attribute {ids[1]!r}"
    except UNREADABLE as error:
        return f"{documents.key}: cannot be read: {error}"
    return None


def row_alignment(corpus: Built, asset: str) -> dg.AssetChecksDefinition:
    """Compares the row counts of all shards, and the ids of every row of up to 64 shards (chosen by hash)."""

    @dg.asset_check(asset=asset_key(asset), name=ROW_ALIGNMENT, description=row_alignment.__doc__)
    def check() -> dg.AssetCheckResult:
        documents = {shard.key: shard for shard in current_partitions(corpus, mixed_documents(corpus))}
        attributes = {shard.key: shard for shard in current_partitions(corpus, asset)}
        both = [key for key in attributes if key in documents]
        faults = [f"{key}: attributes of documents that do not exist" for key in attributes if key not in documents]
        faults += [fault for key in both if (fault := _other_count(documents[key], attributes[key]))]
        read = sorted(both, key=lambda key: keyed_hash("alignment", 0, key or ""))[:MAX_SHARDS_READ]
        faults += [fault for key in read if (fault := misaligned(documents[key], attributes[key]))]
        return result(faults, {"shards": len(attributes), "shards read row by row": len(read)})

    return check


def _other_count(documents: Partition, attributes: Partition) -> str | None:
    """Returns in words how the recorded row counts differ; None if they agree."""
    rows = [shard.file(JSONL).rows for shard in (documents, attributes)]
    return None if rows[0] == rows[1] else f"{documents.key}: {rows[0]} documents, {rows[1]} attribute rows"
