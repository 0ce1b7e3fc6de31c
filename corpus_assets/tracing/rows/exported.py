"""Finds the rows of files for trainers that hold a document, by the place of its ids in the token stream."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.exports import is_export
from corpus_assets.export.datasets import ExportedDataset, stream_owners, streamed_datasets
from corpus_assets.export.documents import Documents
from corpus_assets.export.format import Build, Place, places_of
from corpus_assets.export.masked.long import LONG_DOCUMENT
from corpus_assets.export.token_stream import DOCUMENTS, IDS, LENGTHS, NAMES, NOWHERE
from corpus_assets.export.weights.stored import stored_mix
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tracing.kept_rows import not_built
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.step import Step
from corpus_assets.tracing.tables import rows_of_id
from resources.formats.token_streams import ORIGINS, STREAMS
from resources.stage.partition import Partition

MOST_ROWS = 20
"""Most runs of rows that are listed for a dataset; all are counted."""

Runs = list[dict[str, Any]]


def streams_of(look: Look, rows_from: str) -> dict[str, ExportedDataset]:
    """Returns the token streams made from an asset, each with a dataset that defines it."""
    owners = stream_owners(look.corpus.settings.values["datasets"])
    return {one.streams[0]: one for one in owners if not one.parts and one.rows_from == rows_from}


def number_in_stream(stream: Partition, named: tuple[str, str, int], row: int, rank: int) -> int | None:
    """Returns the number of a document in a partition of a stream; None if it is not there.

    named: source, id and copy. row: of the split or file; it is the number, unless texts were left out. rank: how many
    others with that name come before.
    """
    source, identifier, copy = named
    table, known = stream.array(DOCUMENTS), stream.json(NAMES)["sources"]
    if source not in known:
        return None
    wanted = identifier.encode("utf-8", "surrogatepass")
    found = [
        number
        for number in rows_of_id(table["id_end"], stream.array(IDS), wanted)
        if table["copy"][number] == copy and table["source"][number] == known.index(source)
    ]
    if row in found:
        return row
    return found[rank] if rank < len(found) else None


def exported(look: Look, asset: str, stream: Partition, number: int, copy: int | None) -> Iterator[Step]:
    """Yields a step for each dataset in a trainer's format that is made of a stream. number: of the document in it.

    Of a dataset of parts two: for its own stream, and for the files that are made of that.
    """
    for dataset in streamed_datasets(look.corpus.settings.values["datasets"]):
        if is_export(dataset.values) and asset in dataset.streams:
            yield _step(look, dataset, stream, number, copy)
        if any(part.stream == asset for part in dataset.parts):
            yield from _in_parts(look, dataset, stream, number, copy)


def _in_parts(look: Look, dataset: ExportedDataset, stream: Partition, number: int, copy: int | None) -> Iterator[Step]:
    """Yields the steps of a dataset that a stream is a part of."""
    asset, part = dataset.streams[0], stream.record.asset
    only = None if any(one.of_files for one in dataset.parts if one.stream == part) else stream.key
    made = look.partitions(asset) if only is None else [one for one in [look.partition(asset, only)] if one is not None]
    if not made:
        yield not_built(look, asset, only, copy)
        return
    pieces = [(one, found) for one in made if len(found := made_of_document(one, part, stream.key, number))]
    for one, found in pieces:
        yield stream_step(look, one, int(found[0]), copy)
        yield _step(look, dataset, one, int(found[0]), copy)
    if not pieces:
        stale = next((words for one in made if (words := look.state(asset, one.key))), "")
        reason, words = "not_in_mixture", "the weights of the dataset do not take it"
        if not dataset.weights:
            reason, words = LONG_DOCUMENT, "it has more ids than a row, or too few to learn one"
        yield Step(asset, only, "dropped", words, reason, copy=copy, stale=stale)


def made_of_document(stream: Partition, asset: str, key: str | None, number: int) -> NDArray[np.int64]:
    """Returns the documents of a stream of parts that are made of a document of another stream."""
    read = [tuple(one[:2]) for one in stream.json(STREAMS)]
    if (asset, key) not in read:
        return np.empty(0, np.int64)
    rows = stream.array(ORIGINS)
    return np.flatnonzero((rows["stream"] == read.index((asset, key))) & (rows["document"] == number))


def _step(look: Look, dataset: ExportedDataset, stream: Partition, number: int, copy: int | None) -> Step:
    asset, key = names.tokens(dataset.name), stream.key
    spread = dataset.together or dataset.format.spread
    built = look.partitions(asset) if spread else [one for one in [look.partition(asset, key)] if one is not None]
    tokenizer = look.partition(dataset.tokenizer, None)
    mixture = look.partition(names.mixture(dataset.name), None) if dataset.values["weights"] else None
    if not built or tokenizer is None or (dataset.values["weights"] and mixture is None):
        return not_built(look, asset, None if dataset.together else key, copy)
    build: Build[Any] = Build.of(dataset.name, dataset.section, load_tokenizer_of(tokenizer, dataset.added_token))
    documents = dataset.units(stream, build, None if mixture is None else stored_mix(mixture))
    pieces = np.flatnonzero(np.isin(documents.numbers, _of_one_example(stream, number)))
    only = None if spread else key
    if not len(pieces):
        held = dataset.documents(stream, build, None if mixture is None else stored_mix(mixture))
        taken = bool(np.isin(held.numbers, _of_one_example(stream, number)).any())
        return _in_none(look, dataset, only, copy, empty=not stream.array(LENGTHS)[number], taken=taken)
    runs = [run for one in built for run in _runs(dataset, one, stream, documents, pieces)]
    count = sum(run["last"] - run["first"] + 1 for run in runs)
    stale = next((words for one in built if (words := look.state(asset, one.key))), "")
    unit = dataset.format.unit_of(dataset.section)
    if not runs:
        words = f"it is in no {unit}: its ids are in a rest that is left out"
        return Step(asset, only, "dropped", words, "tail", copy=copy, stale=stale)
    first = runs[0]
    words = f"in {_rows(runs, unit)} of {first['file']}" + (" and others" if len({r["file"] for r in runs}) > 1 else "")
    details = {"rows": runs[:MOST_ROWS], "row_count": count, "unit": unit, "format": dataset.values["format"]}
    return Step(asset, only, "here", words, None, first["first"], first["file"], copy, stale, details)


def _in_none(
    look: Look, dataset: ExportedDataset, key: str | None, copy: int | None, *, empty: bool, taken: bool
) -> Step:
    asset = names.tokens(dataset.name)
    reason, words = "not_in_mixture", "the weights of the dataset do not take it"
    if empty:
        reason, words = "empty", "its text has no token"
    elif taken:
        reason, words = LONG_DOCUMENT, "it has more ids than a row"
    stale = look.state(asset, key) if key else ""
    return Step(asset, key, "dropped", words, reason, copy=copy, stale=stale)


def _rows(runs: Runs, unit: str) -> str:
    shown = [f"{run['first']:,}" + (f" to {run['last']:,}" if run["last"] > run["first"] else "") for run in runs[:3]]
    several = len(runs) > 1 or runs[0]["last"] > runs[0]["first"]
    return f"{unit}{'s' if several else ''} {', '.join(shown)}{' ...' if len(runs) > 3 else ''}"


def _runs(
    dataset: ExportedDataset, made: Partition, stream: Partition, documents: Documents, pieces: NDArray[np.int64]
) -> Iterator[dict[str, Any]]:
    """Yields the runs of rows of the files of a partition that hold pieces of a document."""
    ends = np.cumsum(documents.sizes)
    begins = ends - documents.sizes
    lines_of = dataset.format.lines_of
    for place in places_of(made):
        if lines_of is None and place.stream not in (stream.key, stream.name):
            continue
        found: list[int] = []
        for piece in pieces.tolist():
            start, stop = int(begins[piece]), int(ends[piece])
            if lines_of is not None:
                found += lines_of(made, place.path, stream.name, start, stop).tolist()
            elif place.step:
                found += _windows(place, start, stop)
            else:
                found += _units(place, documents, piece)
        yield from _joined(place.path, sorted(set(found)))


def _windows(place: Place, start: int, stop: int) -> range:
    """Returns the windows of a place that hold ids from `start` to before `stop`."""
    low, high = max(start, place.id) - place.id, min(stop, place.id + place.ids) - place.id
    return range(place.unit + low // place.step, place.unit + -(-high // place.step)) if low < high else range(0)


def _of_one_example(stream: Partition, number: int) -> NDArray[np.int64]:
    """Returns the documents of a stream that are made of the same example: masked ones may be several."""
    if stream.has(ORIGINS):
        origins = stream.array(ORIGINS)[["stream", "document"]]
        return np.flatnonzero(origins == origins[number])
    rows = stream.array(DOCUMENTS)["row"]
    return np.flatnonzero(rows == rows[number]) if rows[number] != NOWHERE else np.array([number])


def _units(place: Place, documents: Documents, piece: int) -> list[int]:
    """Returns the row of a piece of a document in a place, if it is there."""
    unit = int(np.searchsorted(documents.unit_bounds, piece, side="right")) - 1
    first = documents.unit_at(place.document, place.id)
    ahead = -1 if first is None else unit - first
    return [place.unit + ahead] if 0 <= ahead < place.units else []


def _joined(path: str, rows: list[int]) -> Iterator[dict[str, Any]]:
    """Yields rows that follow each other as runs: the file, the first and the last."""
    cuts = [0, *(n + 1 for n, (one, other) in enumerate(pairwise(rows)) if other != one + 1)]
    for begin, end in zip(cuts, [*cuts[1:], len(rows)], strict=True):
        if rows:
            yield {"file": path, "first": rows[begin], "last": rows[end - 1]}


def stream_step(look: Look, stream: Partition, number: int, copy: int | None) -> Step:
    """Returns the step of a token stream."""
    asset, file = stream.record.asset, stream.file(LENGTHS).path
    tokens = int(stream.array_rows(LENGTHS, number, number + 1)[0])
    details: Mapping[str, Any] = {"tokens": tokens}
    words = f"document {number:,} of the token stream, {tokens:,} tokens"
    return Step(
        asset, stream.key, "here", words, None, number, file, copy, look.state(asset, stream.key), dict(details)
    )
