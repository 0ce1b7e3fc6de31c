"""The asset `<name>_attributes` of an entry with `kind: semantic`: which documents resemble one that is kept."""

import msgspec
import numpy as np

from corpus_assets.attributes.semantic.alike import ALIKE, SCALE
from corpus_assets.config.selection.kinds.semantic import Semantic
from corpus_assets.dedup.clusters.kept_ids import KeptIds
from corpus_assets.dedup.shared import stored_numbering
from resources.formats.row_tables import identifiers
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.stage.task import Task

_DIGITS = 5
_STEPS = 20


class _Document(msgspec.Struct):
    """The identity of a document."""

    id: str
    source: str


def marks(task: Task, rule: Semantic) -> None:
    """Writes a row for each document: the cosine with the kept document that it resembles, and which one that is."""
    documents, found = task.input("normalized_documents"), task.input(f"{rule.name}_vectors")
    texts, table = documents.array(".texts.npy"), found.array(".rows.npy")
    characters = dict(zip(table["row"].tolist(), table["characters"].tolist(), strict=True))
    alike = _alike(task.inputs(f"{rule.name}_alike"), task.shard.key)
    scores = [0] * _STEPS
    ids = identifiers(texts["id_end"], documents.array(".ids.npy"))
    with task.attributes(rule.name) as out:
        for row, identifier in enumerate(ids):
            document = _Document(identifier, task.shard.source)
            if row not in alike:
                out.add(document, {}, flagged=False)
                continue
            score, kept = alike[row]
            scores[min(int(score * _STEPS), _STEPS - 1)] += 1
            span = (0, characters[row], round(score, _DIGITS))
            out.add(document, {rule.key: [span]}, flagged=True, kept=kept)
    counted = {f"{step / _STEPS:.2f}": count for step, count in enumerate(scores) if count}
    task.count(rows_in=out.rows, rows_out=out.rows, compared=len(table), flagged=len(alike), scores=counted)


def _alike(ranges: Partitions, shard: str) -> dict[int, tuple[float, dict[str, str | int]]]:
    """Returns the rows of a shard that resemble a kept document, with the cosine and where that one is."""
    found: dict[int, tuple[float, dict[str, str | int]]] = {}
    for one in ranges:
        numbering = stored_numbering(one)
        place = numbering.shards.index(shard)
        start, stop = one.json(".starts.json")[place : place + 2]
        if stop > start:
            ids = _ids(one)
            rows = np.array(one.array(".alike.npy")[start:stop], dtype=ALIKE)
            for row, score, kept in rows.tolist():
                described = numbering.described(kept)
                described.pop("cluster")  # Of near-duplicates, which have pages of their own.
                found[row] = score / SCALE, {"id": ids.id_of(kept), **described}
    return found


def _ids(one: Partition) -> KeptIds:
    return KeptIds(*(one.array(f".kept.{column}.npy") for column in ("documents", "ends", "ids")))
