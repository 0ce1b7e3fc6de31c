"""The way of a document from its raw row through every stage to the token files, or to the stage that dropped it."""

from collections.abc import Iterator
from time import monotonic

from corpus_assets.dataset_names import raw_source
from corpus_assets.filter.assets import FILTERED, READ
from corpus_assets.tracing.kept_rows import described, filtered
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.origins import Origin
from corpus_assets.tracing.rows.mixed import mixed, split
from corpus_assets.tracing.rows.raw import lost_row, number_of
from corpus_assets.tracing.rows.stream import streamed
from corpus_assets.tracing.rows.token import of_example, of_given, of_split
from corpus_assets.tracing.step import Step, Way
from corpus_assets.tracing.tables import IDS, NAMED, TEXTS, id_at, id_in_stream, is_stream, line_at
from resources.formats.jsonl.compressions import JSONL
from resources.stage.partition import Partition


def way_of(look: Look, shard: str, row: int, *, seconds: float = 10.0) -> Way:
    """Returns the way of a row of a raw file.

    shard: key of its partition, of a source or of a dataset's own files. seconds: for searching HDF5 files, which do
    not record the documents of their rows; 0 to skip them. Raises `ConfigError` for an unknown shard or row.
    """
    asset = look.asset_of(shard)
    made = look.shard(asset, shard)
    return _way(look, made, number_of(made, row), row, monotonic() + seconds)


def way_of_document(look: Look, shard: str, number: int, *, seconds: float = 10.0) -> Way:
    """Returns the way of a document or example, given its number in its shard. See `way_of`."""
    made = look.shard(look.asset_of(shard), shard)
    return _way(look, made, number, None, monotonic() + seconds)


def _way(look: Look, made: Partition, number: int | None, row: int | None, until: float) -> Way:
    key = made.key or ""
    source = key.partition("--")[0]
    if number is None:
        found = look.origin(source, "", key, None)
        return Way(
            Origin(source, "", key, found.file, row), None, [_raw(look, made, row), lost_row(look, made, row or 0)]
        )
    identifier = named_at(made, number)
    found = look.origin(source, identifier, key, number)
    steps = of_given if is_stream(made) else _of_document if made.record.asset == READ else _of_example
    return Way(found, number, [_raw(look, made, found.row), *steps(look, made, number, until)])


def _raw(look: Look, made: Partition, row: int | None) -> Step:
    """Returns the step of the raw file."""
    asset = "raw_source" if made.record.asset == READ else raw_source((made.key or "").partition("--")[0])
    shard = look.planner.shard(made.key)
    unit = "document" if is_stream(made) else "row"
    words = f"a {unit} of {shard.label}" if shard else "the raw file is gone"
    file = shard.full_path if shard else None
    return Step(
        asset, made.key, "here" if shard else "unknown", words, None, row, file, stale=look.state(asset, made.key)
    )


def named_at(made: Partition, number: int) -> str:
    """Returns the id of a document or example."""
    if is_stream(made):
        return id_in_stream(made, number)
    return id_at(made, number) if made.has(IDS) else NAMED.decode(line_at(made, number)).id


def _of_example(look: Look, made: Partition, number: int, until: float) -> Iterator[Step]:
    asset, file = made.record.asset, made.file(JSONL).path
    yield Step(asset, made.key, "here", f"example {number:,}", None, number, file, stale=look.state(asset, made.key))
    yield from of_example(look, made, number, until)


def _of_document(look: Look, made: Partition, number: int, until: float) -> Iterator[Step]:
    key = made.key or ""
    identifier = id_at(made, number)
    yield _normalized(look, made, number, identifier)
    yield from streamed(look, made, number)
    row: int | None = number
    if look.has(FILTERED):
        step, row = filtered(look, key, number, identifier)
        yield step
    if row is None:
        return
    for step in described(look, key, row):
        yield step
        if step.status in ("dropped", "unknown"):
            return
    step, uses = mixed(look, key, row, (key.partition("--")[0], identifier))
    yield step
    for use in uses:
        for step in split(look, use):
            yield step
            if step.status == "here":
                yield from of_split(look, step, use, until)


def _normalized(look: Look, made: Partition, number: int, identifier: str) -> Step:
    text = made.array_rows(TEXTS, number, number + 1)[0]
    details = {"id": identifier, "bytes": int(text["bytes"]), "sha256": text["digest"].tobytes().hex()}
    details["characters"] = int(made.array_rows(".lengths.npy", number, number + 1)["characters"][0])
    words = f"document {number:,} of its shard, {details['bytes']:,} bytes of text"
    file = made.file(JSONL).path
    return Step(READ, made.key, "here", words, None, number, file, stale=look.state(READ, made.key), details=details)
