"""The raw files as the last build saw them, for looking at a corpus whose raw files cannot be listed now."""

from collections.abc import Mapping
from typing import Any

import msgspec

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.raw.folders import raw_folders
from resources.shards.listing import Listing, Shard


def recorded_listing(corpus: Corpus) -> Listing | None:
    """Returns the raw files that the stored inventory lists, each as it was read last; None if none is stored."""
    inventory = corpus.partition("inventory", None)
    if inventory is None:
        return None
    seen: dict[str | None, Mapping[str, Any]] = {}
    for stage in corpus.graph.stages.values():
        if stage.digests_raw_files:
            seen |= {key: record.seen for key, record in corpus.records(stage.name).items()}
    locations = {folder.name: folder.location for folder in raw_folders(corpus.settings)}
    rows = map(msgspec.json.decode, inventory.lines())
    found = (_shard(row, seen.get(row["shard"], {}), locations.get(row["source"], "")) for row in rows)
    return Listing(tuple(shard for shard in found if shard.source in locations), ())


def _shard(row: Mapping[str, Any], seen: Mapping[str, Any], location: str) -> Shard:
    key, source = row["shard"], row["source"]
    return Shard(
        key,
        source,
        key.removeprefix(f"{source}--").replace("--", "/"),
        location,
        row["file"].removeprefix(f"{source}/"),
        row["bytes"],
        str(seen.get("modified", "")),
        ("",) * row["members"],
    )
