"""The assets of units by shard: the scores that borders are made of, and the unit of every use of a document."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress

import msgspec

from corpus_assets.mix.kept import kept
from corpus_assets.mix.scatter import Kept, scatter
from corpus_assets.mix.units.dimensions import Dimension, Scored, assets_of, borders_of, unit_name
from corpus_assets.mix.units.rows import rows_of
from corpus_assets.mix.units.uses import BORDERS, Uses
from corpus_assets.mix.units.values import Subject, Value, number
from resources.documents.looked_for import LookedFor, numbers_of
from resources.documents.quantiles import SCORE, counted
from resources.documents.unit_tables import MOST_UNITS, unit_hash
from resources.errors import BadFileError
from resources.formats.row_tables import identifiers
from resources.stage.settings import chunk_key
from resources.stage.task import Task


def scores_path(dimension: str) -> str:
    """Returns the suffix of the file with the scores of a part of the units."""
    return f".{dimension}.scores.npy"


def mix_scores(task: Task, scored: Sequence[Scored]) -> None:
    """Writes the scores of a shard's documents in the mix, in ascending order with counts: a table for each score."""
    scores: list[list[float]] = [[] for _ in scored]
    rows = 0
    missing = dict.fromkeys((one.name for one in scored), 0)
    for values in _values(task, [one.subject for one in scored]):
        rows += 1
        for one, held, value in zip(scored, scores, map(number, values), strict=True):
            missing[one.name] += value is None
            score = one.missing if value is None else value
            if score is not None:
                held.append(score)
    path = f"mixed/scores/{task.shard.source}/{task.shard.name}"
    for one, held in zip(scored, scores, strict=True):
        with task.array(f"{path}{scores_path(one.name)}", SCORE) as out:
            out.append(counted(held))
    task.count(rows_in=rows, rows_out=rows, documents_without_score=missing)


def document_units(task: Task, dimensions: Sequence[Dimension], uses: Uses) -> None:
    """Writes the unit of every use of a document of a shard, scattered over the chunks as pass 1 scatters the uses."""
    source, chunks = task.shard.source, [chunk_key(chunk) for chunk in range(task["mix.chunks"])]
    looked_for = LookedFor("documents", {one.place: [one.subject.by] for one in dimensions if one.subject.is_open})
    placed = scatter(
        _kept(task, dimensions, uses, looked_for),
        source=source,
        epochs=task["source.epochs"],
        seed=task["mix.seed"],
        chunks=len(chunks),
        place=uses.place(task),
    )
    documents, sizes, times = Counter[str](), Counter[str](), Counter[str]()
    with task.segmented(f"mixed/document_units/{source}/{task.shard.name}.jsonl.zst", chunks) as out:
        for use in placed:
            unit = use.line.decode()
            out.write(chunks[use.chunk], msgspec.json.encode((int.from_bytes(use.digest, "little"), unit)) + b"\n")
            times[unit] += 1
            if use.copy == 0:
                documents[unit] += 1
                sizes[unit] += use.size
    for chunk in chunks:
        task.segments[chunk] = out.index[chunk].digest
    numbers = {unit: {"documents": documents[unit], "text_bytes": sizes[unit], "uses": times[unit]} for unit in times}
    task.count(rows_in=documents.total(), rows_out=times.total(), by_unit=dict(sorted(numbers.items())))
    task.count(**numbers_of(looked_for))


def _kept(task: Task, dimensions: Sequence[Dimension], uses: Uses, looked_for: LookedFor) -> Iterator[Kept]:
    """Yields the documents of the mix: the name of its unit as line, the hash of tables of units as digest."""
    given, source = task.input("normalized_documents"), task.shard.source
    texts = given.array(".texts.npy")
    stored = task.input(BORDERS).json() if task.reads(BORDERS) else {}
    named = [one.bucket(borders) for one, borders in zip(dimensions, borders_of(stored, dimensions), strict=True)]
    rows = zip(
        identifiers(texts["id_end"], given.array(".ids.npy")),
        texts["bytes"].tolist(),
        uses.of_rows(task),
        strict=True,
    )
    found = compress(rows, kept(task, len(texts)))
    names = set[str]()
    subjects = [one.subject for one in dimensions]
    for (identifier, size, use), values in zip(found, _values(task, subjects, looked_for), strict=True):
        name = unit_name([bucket(value) for bucket, value in zip(named, values, strict=True)])
        names.add(name)
        if len(names) > MOST_UNITS:
            raise BadFileError(task.shard.label, too_many(dimensions, name))
        digest = unit_hash(source, identifier).to_bytes(8, "little")
        yield Kept(identifier, name.encode(), digest, size, use.times, use.score)


def too_many(dimensions: Sequence[Dimension], name: str) -> str:
    """Returns the fault of units of which there are too many. name: of one of them."""
    by = ", ".join(one.subject.by for one in dimensions)
    return (
        f"mix.units: its documents are in over {MOST_UNITS:,} units ({by}), such as {name[:80]!r}; valid: labels of "
        "which there are few, such as topics, and `quantiles` or `ranges` for numbers"
    )


def _values(task: Task, subjects: Sequence[Subject], looked_for: LookedFor | None = None) -> Iterator[list[Value]]:
    """Yields the value in each respect of the documents that the mix takes."""
    documents = task.input("normalized_documents")
    read = [(lambda _: task.shard.source) if one.kind == "source" else one.read() for one in subjects]
    attributes = [task.input(name) for name in assets_of(subjects)]
    lines = any(one.reads_documents for one in subjects)
    rows = rows_of(documents, attributes, lines=lines)
    taken = kept(task, documents.file(".texts.npy").rows or 0)
    for row, is_taken in zip(rows, taken, strict=True):
        if not is_taken:
            continue
        values = [function(row) for function in read]
        if looked_for is not None and looked_for.wants_any:
            there = (name for one in subjects for name in one.names_in(row)) if looked_for.needs_names else ()
            looked_for.add(there, [one.by for one, value in zip(subjects, values, strict=True) if value is not None])
        yield values
