"""The raw rows of many documents of token streams at once."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from corpus_assets.tracing.look import Look
from corpus_assets.tracing.origins import Origin, order_of, row_of
from resources.formats.row_tables import ORIGINS, SHARDS
from resources.stage.partition import Partition


class StreamRow(NamedTuple):
    """A document of a token stream. key: of its partition. row: number of the example there; None in a split."""

    key: str
    source: str
    id: str
    row: int | None
    copy: int


def origins_of(look: Look, rows: Sequence[StreamRow]) -> Iterator[Origin]:
    """Yields where each document comes from; each table of a chunk is read once."""
    orders = {row: order_of(look.corpus, row.source, row.id, row.copy) for row in rows if row.row is None}
    shards: dict[tuple[str, int], str] = {}
    for key in {row.key for row in orders}:
        if (mixed := look.partition("mixed_pass2", key)) is not None:
            shards |= _shards(mixed, [order for row, order in orders.items() if row.key == key])
    documents: dict[str, Partition | None] = {}
    for row in rows:
        if row.row is not None:
            yield look.origin(row.source, row.id, row.key, row.row)
            continue
        shard = shards.get((row.key, orders[row]))
        if shard is None:
            yield Origin(row.source, row.id)
            continue
        if shard not in documents:
            documents[shard] = look.partition("normalized_documents", shard)
        made = documents[shard]
        yield look.origin(row.source, row.id, shard, None if made is None else row_of(made, row.id))


def _shards(mixed: Partition, orders: Sequence[int]) -> dict[tuple[str, int], str]:
    """Returns the shards of the documents of some orders in a chunk, by key and order."""
    held, names, of = mixed.array(".rows.npy")["order"], mixed.json(SHARDS), mixed.array(ORIGINS)
    places = np.flatnonzero(np.isin(held, np.array(orders, np.uint64)))
    return {(mixed.key or "", int(held[place])): names[of[place]] for place in places.tolist()}
