"""`corpus why`: where a document went, stage by stage, and the reason where it ended."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from corpus_assets.cli.console import output, print_json, print_line
from corpus_assets.corpus import Corpus
from corpus_assets.tracing.exports import is_exported, trace_export
from corpus_assets.tracing.finding import Found, Sought, find_documents
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.origins import Origin
from corpus_assets.tracing.rows import trace_row
from corpus_assets.tracing.step import Step, Way
from corpus_assets.tracing.way import way_of, way_of_document
from resources.errors import ConfigError
from resources.stage.graph import did_you_mean

_DIGEST = re.compile(r"(?:sha256:)?([0-9a-fA-F]{64})")
_MOST = 20
_SECONDS = 60.0
"""For a search by id or digest, which looks at every row of a corpus of hundreds of millions in that time."""

ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}


@dataclass(frozen=True)
class Asked:
    """What is asked for.

    what: an id, the SHA-256 of a text, or with a row a raw file, its shard, or a file of a dataset. source: of the
    document. dataset: of the file. position: of the token in the row. seconds: for searching rows of HDF5.
    """

    what: str
    row: int | None = None
    source: str | None = None
    dataset: str | None = None
    position: int = 0
    seconds: float = 10.0


def run(config: Path | None, asked: Asked, *, as_json: bool) -> None:
    """Prints the ways of the documents that are asked for."""
    look = Look(Corpus.open(config))
    ways = list(ways_of(look, asked))
    if as_json:
        print_json({"ways": [asdict(way) for way in ways]})
        return
    out = output()
    for number, way in enumerate(ways):
        for line in ([""] if number else []) + [*_lines(way)]:
            print_line(out, line)


def ways_of(look: Look, asked: Asked) -> Iterator[Way]:
    """Yields the ways of the documents that are asked for; `ConfigError` if there is none."""
    if asked.dataset is not None:
        yield _of_token(look, asked, asked.dataset)
    elif asked.row is not None:
        yield way_of(look, shard_key(look, asked.what, asked.source), asked.row, seconds=asked.seconds)
    else:
        for one in _found(look, asked):
            yield way_of_document(look, one.shard, one.number, seconds=asked.seconds)


def shard_key(look: Look, name: str, source: str | None = None) -> str:
    """Returns the key of a raw file, given as its key, its path, or how its path ends.

    Raises `ConfigError` if there is none of that name, or several.
    """
    shards = [shard for shard in look.planner.listing.shards if source in (None, shard.source)]
    named = [shard.key for shard in shards if shard.key == name]
    ends = [shard.key for shard in shards if f"/{shard.full_path}".endswith(f"/{name.lstrip('/')}")]
    found = named or [shard.key for shard in shards if shard.label == name] or ends
    if len(found) == 1:
        return found[0]
    if found:
        raise ConfigError(f"{len(found)} raw files end with {name!r}: {', '.join(found[:5])}; give one of these keys")
    known = [text for shard in shards for text in (shard.key, shard.label)]
    raise ConfigError(f"no raw file {name!r}{did_you_mean(name, known)}; with a row, give a raw file or its shard")


def _of_token(look: Look, asked: Asked, dataset: str) -> Way:
    """Returns the way of the document of a token."""
    known = [entry["name"] for entry in look.corpus.settings.values["datasets"]]
    if dataset not in known:
        raise ConfigError(f"no dataset named {dataset!r}; there are {', '.join(known)}{did_you_mean(dataset, known)}")
    place = (asked.what, asked.row or 0, asked.position)
    if is_exported(look.corpus, dataset):
        origin = trace_export(look.corpus, dataset, *place).origin
    else:
        found = trace_row(look.corpus, dataset, *place).found
        if len(found) != 1:
            which = ", ".join(f"{one.source}/{one.id}" for one in found) or "none"
            raise ConfigError(f"documents that hold the text around that token: {which}; ask for one of them by its id")
        (origin,) = found
    if origin.shard is None or origin.row is None:
        raise ConfigError(f"the raw row of {origin.source}/{origin.id} is not known; ask for it by its id")
    return way_of(look, origin.shard, origin.row, seconds=asked.seconds)


def _found(look: Look, asked: Asked) -> list[Found]:
    """Returns the documents with an id, or with a text of that digest, which several may have."""
    digest = _DIGEST.fullmatch(asked.what)
    sought = [Sought(id=asked.what, source=asked.source)]
    if digest:
        sought.insert(0, Sought(digest=bytes.fromhex(digest[1]), source=asked.source))
    for one in sought:
        results = find_documents(look, one, limit=_MOST, seconds=_SECONDS)
        if results.cursor is not None and not results.found:
            raise ConfigError(
                f"{asked.what!r} was not found in the first {results.looked_at:,} of {results.total:,} documents; "
                "give its source with --source"
            )
        if results.found:
            _require_one_source(results.found, asked, by_digest=one.digest is not None)
            return results.found
    near = find_documents(look, Sought(id_piece=asked.what, source=asked.source), limit=3, seconds=2.0).found
    if not near and len(asked.what) > 4:
        near = find_documents(
            look, Sought(id_piece=asked.what[: len(asked.what) // 2 + 1]), limit=50, seconds=1.0
        ).found
    hint = did_you_mean(asked.what, [one.id for one in near]) or "".join(
        f" (an id holds it: {one.id!r})" for one in near[:1]
    )
    where = f" in source {asked.source}" if asked.source else ""
    raise ConfigError(
        f"no document{where} has the id{' or the text digest' if digest else ''} {asked.what!r}{hint}; "
        "of a row that gave no document ask with its raw file and row: corpus why FILE ROW"
    )


def _require_one_source(found: list[Found], asked: Asked, *, by_digest: bool) -> None:
    """Raises `ConfigError` if documents of several sources have an id; the same text may be in many."""
    sources = list(dict.fromkeys(one.source for one in found))
    if len(sources) > 1 and not by_digest:
        raise ConfigError(
            f"{len(sources)} sources have a document {asked.what!r}: give --source {' or '.join(sources)}"
        )


def _lines(way: Way) -> Iterator[str]:
    yield f"document  {way.origin.source}/{_shown(way.origin.id) if way.number is not None else '(none)'}"
    row = "" if way.origin.row is None else f", row {way.origin.row:,} from 0"
    yield f"raw file  {way.origin.file or f'gone; it was shard {way.origin.shard}'}{row}"
    copies = len({step.copy for step in way.steps if step.copy is not None})
    for step in way.steps[1:]:
        use = f", use {step.copy + 1}" if step.copy is not None and copies > 1 else ""
        name = step.stage if step.partition is None else f"{step.stage}/{step.partition}"
        yield f"{step.status:8}  {name}{use}: {_shown(step.words)}"
        yield from _further(step)
    if not any(way.ends()):
        return
    for end in dict.fromkeys((end.stage, end.reason) for end in way.ends()):
        yield f"ended     in {end[0]}" + (f": {end[1]}" if end[1] else "")
    if reached := way.reached():
        yield f"reached   {', '.join(reached)}"
    if unknown := way.unknown():
        yield f"not known {', '.join(unknown)}"


def _further(step: Step) -> Iterator[str]:
    if step.other is not None:
        yield f"{'':10}kept: {_where(step.other)}"
    for other in step.details.get("others", []):
        yield f"{'':10}in its cluster: {other['source']}/{_shown(other['id'])}"
    if step.stale:
        yield f"{'':10}not as it would be made now; {step.stale}"


def _where(origin: Origin) -> str:
    row = "" if origin.row is None else f" row {origin.row:,}"
    return f"{origin.source}/{_shown(origin.id)}" + (f" ({origin.file}{row})" if origin.file else "")


def _shown(text: str) -> str:
    return text.translate(ESCAPES)
