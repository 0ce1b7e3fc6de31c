"""The asset `<name>_vectors`: the direction of each document of a shard that has one."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any, Final

import numpy as np

from corpus_assets.attributes.semantic.embedding import BadRowError, embedder
from corpus_assets.attributes.semantic.integers import units
from corpus_assets.attributes.semantic.models import BATCH, Embed, Sums
from corpus_assets.config.selection.kinds.semantic import Semantic
from resources.errors import CorpusError
from resources.formats.documents import Document
from resources.formats.jsonl.compressions import JSONL
from resources.hashing import keyed_hashes
from resources.shards.listing import Shard
from resources.stage.task import Task

MODEL: Final = "model"
DIMENSIONS: Final = "dimensions"
"""Counter: of the vectors of a shard; 0 if no document has one."""

ROW: Final = np.dtype([("row", "<u4"), ("characters", "<u4"), ("key", "<u8")])
"""A document with a vector: its row in the shard, its code points, and the keyed hash of its id."""

_MOST_CHARACTERS: Final = 1 << 22


def is_compared(shard: Shard, rule: Semantic) -> bool:
    """Returns whether an entry looks at the documents of a shard."""
    return shard.is_among(rule.sources, rule.glob)


def place_of(rule: Semantic) -> str:
    """Returns the key of the model in corpus.yaml, for messages."""
    return f"dedupers.{rule.name}.{MODEL}"


def vectors(task: Task, rule: Semantic) -> None:
    """Writes the vector of each document of a shard, and which row it is of.

    Documents without known tokens have none; nor have any of a shard that is not compared.
    """
    documents = task.input("normalized_documents")
    rows = documents.file(JSONL).rows or 0
    own = is_compared(task.shard, rule)
    path = f"dedupers/{rule.name}/vectors/{task.shard.source}/{task.shard.name}"
    dimensions = written = 0
    with ExitStack() as files:
        out: Any = None
        table = files.enter_context(task.array(f"{path}.rows.npy", ROW))
        embed = embedder(task.run_options[MODEL], place_of(rule), task[place_of(rule)]) if own and rows else None
        for start, batch in _batches(documents.documents() if embed else ()):
            assert embed is not None
            found, has_any = units(_embedded(embed, batch, task.shard.label, start))
            if out is None:
                dimensions = found.shape[1]
                out = files.enter_context(task.array(f"{path}.vectors.npy", np.int16, (dimensions,)))
            if found.shape[1] != dimensions:
                raise CorpusError(
                    f"{place_of(rule)}: gave {found.shape[1]} dimensions for row {start} of {task.shard.label} and "
                    f"{dimensions} for those before; valid: as many each time"
                )
            places = np.flatnonzero(has_any)
            listed = np.empty(len(places), dtype=ROW)
            listed["row"] = start + places
            listed["characters"] = [len(batch[place].text) for place in places]
            listed["key"] = list(keyed_hashes("semantic", 0, (batch[place].id.encode() for place in places)))
            out.append(found[places])
            table.append(listed)
            written += len(places)
        if out is None:
            files.enter_context(task.array(f"{path}.vectors.npy", np.int16, (1,)))
    task.save_counters(DIMENSIONS, {DIMENSIONS: dimensions})
    left_out = {"unknown": rows - written} if own else {"not_of_its_sources": rows}
    task.count(rows_in=rows, rows_out=written, left_out={why: count for why, count in left_out.items() if count})


def _batches(documents: Iterable[Document]) -> Iterator[tuple[int, list[Document]]]:
    """Yields the first row of each batch, and its documents: fewer of long ones."""
    held: list[Document] = []
    start = characters = 0
    for document in documents:
        if held and (len(held) == BATCH or characters + len(document.text) > _MOST_CHARACTERS):
            yield start, held
            start, held, characters = start + len(held), [], 0
        held.append(document)
        characters += len(document.text)
    if held:
        yield start, held


def _embedded(embed: Embed, batch: list[Document], label: str, start: int) -> Sums:
    try:
        return embed([document.text for document in batch])
    except BadRowError as error:
        raise CorpusError(f"{error} for row {start + error.place} of {label} ({batch[error.place].id})") from None
