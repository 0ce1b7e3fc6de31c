"""The steps of a document in the mix and the splits, for each use of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.mix.repeat import copies
from corpus_assets.mix.scatter import ranked_as
from corpus_assets.tracing.kept_rows import is_left_out, not_built
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.origins import Origin
from corpus_assets.tracing.step import Step
from corpus_assets.tracing.tables import NAMED, TEXTS, id_at, line_at, rows_of_digest
from resources.documents.names import document_name
from resources.formats.jsonl.compressions import JSONL
from resources.formats.row_tables import ORIGINS, SHARDS
from resources.hashing import keyed_hash
from resources.stage.partition import Partition
from resources.stage.settings import chunk_key

ROWS = ".rows.npy"
BY_SCORES = ("mix.copies", "mix.order")
SPLITS = {"validation": "for validation during training", "test": "for the final test"}


@dataclass(frozen=True)
class Used:
    """One use of a document in the mix.

    document: key of its shard, and its row among those that are mixed from. order: its keyed hash in the chunk.
    """

    source: str
    id: str
    digest: bytes
    document: tuple[str, int]
    copy: int
    chunk: str
    order: int

    def rows(self, table: NDArray[np.void]) -> NDArray[np.int64]:
        """Returns the rows of a table that are this use, or that of a document with the same id and text."""
        found = np.flatnonzero(table["order"] == np.uint64(self.order))
        same = [
            row["copy"] == self.copy
            and row["source"] == self.source.encode()
            and row["digest"].tobytes() == self.digest
            for row in table[found]
        ]
        return found[np.array(same, np.bool_)]


def mixed(look: Look, key: str, row: int, named: tuple[str, str]) -> tuple[Step, list[Used]]:
    """Returns the step of pass 1 of the mix, and how the document is used. named: its source and id."""
    source, identifier = named
    documents, made = look.partition(look.documents, key), look.partition("mixed_pass1", key)
    if made is None or documents is None:
        return not_built(look, "mixed_pass1", key), []
    seed, epochs, chunks = (made.record.parameters[name] for name in ("mix.seed", "source.epochs", "mix.chunks"))
    stale, digest = look.state("mixed_pass1", key), documents.array_rows(TEXTS, row, row + 1)["digest"][0].tobytes()
    by_scores = [name for name in BY_SCORES if name in made.record.parameters]
    if by_scores:
        used = [Used(source, identifier, digest, (key, row), *place) for place in _placed(made, seed, named, digest)]
    else:
        used = []
        for copy in range(copies(epochs, seed, source, identifier)):
            chunk, order = (keyed_hash(what, seed, source, identifier, copy) for what in ("chunk", "order"))
            used.append(Used(source, identifier, digest, (key, row), copy, chunk_key(chunk % chunks), order))
    times = len(used)
    if not times:
        by = " and ".join(f"`{name}`" for name in (*by_scores, f"epochs: {epochs:g}") if name != "mix.order")
        words = f"it is not among the documents that {by} of its source takes"
        details = {"epochs": epochs}
        return Step("mixed_pass1", key, "dropped", words, "not_in_this_epoch", stale=stale, details=details), []
    to = ", ".join(dict.fromkeys(use.chunk for use in used))
    words = f"it goes to {to}" + (f", used {times} times (`epochs: {epochs:g}`)" if times > 1 else "")
    details = {"epochs": epochs, "uses": times, "chunks": [use.chunk for use in used]}
    file = made.file(".jsonl.zst").path
    return Step("mixed_pass1", key, "moved", words, file=file, stale=stale, details=details), used


def _placed(made: Partition, seed: int, named: tuple[str, str], digest: bytes) -> Iterator[tuple[int, str, int]]:
    """Yields copy, chunk and order of each use of a document in a mix by scores, which only its table says."""
    table, index = made.array(ROWS), made.segments()
    ends = np.cumsum([segment.rows for segment in index.values()])
    own = np.flatnonzero((table["digest"] == np.frombuffer(digest, np.uint8)).all(axis=1))
    known = set[int]()
    for row in sorted(own.tolist(), key=lambda row: int(table["copy"][row])):
        order, copy = int(table["order"][row]), int(table["copy"][row])
        if copy not in known and order in ranked_as(order, keyed_hash("order", seed, *named, copy)):
            known.add(copy)
            yield copy, [*index][int(np.searchsorted(ends, row, side="right"))], order


def split(look: Look, use: Used) -> Iterator[Step]:
    """Yields the steps of one use of a document, from pass 2 of the mix on."""
    step, rank = _shuffled(look, use)
    yield step
    if rank is None:
        return
    held, trained = look.partition("holdout", use.chunk), look.partition("train", use.chunk)
    if held is None or trained is None:
        yield not_built(look, "holdout" if held is None else "train", use.chunk, use.copy)
        return
    in_holdout, in_train = use.rows(held.array(ROWS)), use.rows(trained.array(ROWS))
    if rank < len(in_holdout):
        yield _in(look, use, held, int(in_holdout[rank]), "its text is held out")
        yield from _held_out(look, use, rank)
    elif rank - len(in_holdout) < len(in_train):
        rank -= len(in_holdout)
        yield _in(look, use, trained, int(in_train[rank]), "it is for training")
        yield _without_held_out(look, use, rank)
    elif not use.copy:
        yield _lost(look, use, "train")
    else:
        words = "its text is held out, and the holdout has each document once: its first use"
        reason, stale = "repeat_of_held_out", look.state("holdout", use.chunk)
        yield Step("holdout", use.chunk, "dropped", words, reason, copy=use.copy, stale=stale)


def _in(look: Look, use: Used, made: Partition, row: int, words: str) -> Step:
    asset, file = made.record.asset, made.file(JSONL).path
    return Step(asset, use.chunk, "here", words, None, row, file, use.copy, look.state(asset, use.chunk))


def _lost(look: Look, use: Used, asset: str) -> Step:
    stale = look.state(asset, use.chunk)
    return Step(asset, use.chunk, "unknown", "it was made of other documents", copy=use.copy, stale=stale)


def _shuffled(look: Look, use: Used) -> tuple[Step, int | None]:
    """Returns the step of pass 2, and which of the equal rows of its chunk the use is; None if it is in none."""
    made = look.partition("mixed_pass2", use.chunk)
    if made is None:
        return not_built(look, "mixed_pass2", use.chunk, use.copy), None
    equal = use.rows(made.array(ROWS))
    own = _of_shard(made, equal, use.document[0])
    before = _equals_before(look, use) if len(own) > 1 else 0
    if before >= len(own):
        return _lost(look, use, "mixed_pass2"), None
    row = int(own[before])
    words = f"row {row:,} of {len(made.array(ROWS)):,} in the shuffled chunk"
    step = _in(look, use, made, row, words)
    return Step(**{**step.__dict__, "status": "moved"}), int(np.searchsorted(equal, row))


def _of_shard(made: Partition, rows: NDArray[np.int64], shard: str) -> NDArray[np.int64]:
    """Returns those of some rows of a chunk that come from a shard."""
    shards: list[str] = made.json(SHARDS)
    number = shards.index(shard) if shard in shards else -1
    found: NDArray[np.int64] = rows[made.array(ORIGINS)[rows] == number]
    return found


def _equals_before(look: Look, use: Used) -> int:
    """Returns how many mixed documents with the same id and text come before this one in its shard."""
    key, row = use.document
    documents = look.partition(look.documents, key)
    if documents is None:
        return 0
    equal = rows_of_digest(documents.array(TEXTS)["digest"][:row], use.digest)
    return sum(id_at(documents, other) == use.id and not is_left_out(look, key, other) for other in equal)


def _held_out(look: Look, use: Used, rank: int) -> Iterator[Step]:
    """Yields the step of validation or test, whichever has the document."""
    missing = None
    for asset, words in SPLITS.items():
        made = look.partition(asset, use.chunk)
        if made is None:
            missing = missing or not_built(look, asset, use.chunk, use.copy)
        elif rank < len(rows := use.rows(made.array(ROWS))):
            yield _in(look, use, made, int(rows[rank]), f"it is {words}")
            return
    yield missing or _lost(look, use, "validation")


def _without_held_out(look: Look, use: Used, rank: int) -> Step:
    """Returns the step of the last stage before training: without texts that are held out."""
    asset = "decontaminated_train"
    made = look.partition(asset, use.chunk)
    if made is None:
        return not_built(look, asset, use.chunk, use.copy)
    rows = use.rows(made.array(ROWS))
    if rank < len(rows):
        return _in(look, use, made, int(rows[rank]), "its text is in no holdout")
    found = _holder(look, use)
    if found is None:
        return _lost(look, use, asset)
    other, details = found
    words = f"its text is held out as that of {document_name(other.source, other.id)}"
    stale = look.state(asset, use.chunk)
    return Step(asset, use.chunk, "dropped", words, "text_in_holdout", None, None, use.copy, stale, details, other)


def _holder(look: Look, use: Used) -> tuple[Origin, dict[str, Any]] | None:
    """Returns the first held-out document with the same text, and where it is; None if there is none."""
    for made in look.partitions("holdout"):
        row = next(rows_of_digest(made.array(ROWS)["digest"], use.digest), None)
        if row is not None:
            named = NAMED.decode(line_at(made, row))
            return Origin(named.source, named.id), {"held_out_in": made.key, "row": row}
    return None
