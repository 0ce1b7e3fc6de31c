"""Attributes lie row by row beside their documents."""

from itertools import zip_longest
from typing import Any

import dagster as dg
import msgspec

from corpus_assets.corpus import Corpus
from corpus_assets.stage import asset_key
from resources.hashing import keyed_hash
from resources.task import Part

ROW_ALIGNMENT = "row_alignment"
MAX_SHARDS_READ = 64


class _Id(msgspec.Struct):
    id: str


_DECODER = msgspec.json.Decoder(_Id)


def misaligned(documents: Part, attributes: Part) -> str | None:
    """The first row where the ids of documents and attributes differ, in words; None when all agree."""
    for row, pair in enumerate(zip_longest(documents.lines(), attributes.lines())):
        ids = [None if line is None else _DECODER.decode(line).id for line in pair]
        if ids[0] != ids[1]:
            return f"{documents.partition} row {row}: document {ids[0]!r}, attribute {ids[1]!r}"
    return None


def row_alignment(corpus: Corpus, asset: str) -> dg.AssetChecksDefinition:
    """Row counts of all shards, and the ids of every row of up to 64 shards (chosen by hash)."""

    @dg.asset_check(asset=asset_key(asset), name=ROW_ALIGNMENT, description=row_alignment.__doc__)
    def check() -> dg.AssetCheckResult:
        documents = corpus.ledger.records("normalized_documents")
        attributes = corpus.ledger.records(asset)
        keys = [
            key for key in (shard.key for shard in corpus.listing().shards) if key in documents and key in attributes
        ]
        faults = [
            f"{key}: {documents[key].files[0].rows} documents, {attributes[key].files[0].rows} attribute rows"
            for key in keys
            if documents[key].files[0].rows != attributes[key].files[0].rows
        ]
        read = sorted(keys, key=lambda key: keyed_hash("alignment", 0, key))[:MAX_SHARDS_READ]
        pairs = ((Part(corpus.storage, documents[key]), Part(corpus.storage, attributes[key])) for key in read)
        faults += [fault for pair in pairs if (fault := misaligned(*pair))]
        metadata: dict[str, Any] = {"shards": len(keys), "shards read row by row": len(read), "faults": faults[:20]}
        return dg.AssetCheckResult(passed=not faults and bool(keys), metadata=metadata)

    return check
