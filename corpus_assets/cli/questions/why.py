"""`corpus why`: follows a document stage by stage, and gives the reason where it was dropped."""

import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from corpus_assets.cli.console import output, print_json, print_line
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.tracing.from_tokens.exports import is_exported, trace_export
from corpus_assets.tracing.from_tokens.rows import trace_row
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.names import Match, listed, named, not_found, shard_key
from corpus_assets.tracing.origins import Origin
from corpus_assets.tracing.step import Step, Way
from corpus_assets.tracing.way import way_of
from resources.documents.names import document_name
from resources.errors import ConfigError
from resources.stage.graph import did_you_mean

ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}


@dataclass(frozen=True)
class Asked:
    """The document to follow.

    what: a name of a document (`tracing.names`), or with a row a raw file, its shard, or a file of a dataset.
    source: of the document.
    dataset: of the file.
    position: of the token in the row.
    seconds: for searching rows of HDF5.
    """

    what: str
    row: int | None = None
    source: str | None = None
    dataset: str | None = None
    position: int = 0
    seconds: float = 10.0


def run(config: Path | None, asked: Asked, *, as_json: bool) -> None:
    """Prints the steps of the wanted documents."""
    look = Look(Corpus.open(config, read_only=True))
    ways = list(ways_of(look, asked))
    if as_json:
        print_json({"ways": [asdict(way) for way in ways]})
        return
    out = output()
    for number, way in enumerate(ways):
        for line in ([""] if number else []) + [*_lines(way)]:
            print_line(out, line)


def ways_of(look: Look, asked: Asked) -> Iterator[Way]:
    """Yields the steps of the wanted documents; `ConfigError` if there is none."""
    if asked.dataset is not None:
        yield _of_token(look, asked, asked.dataset)
    elif asked.row is not None:
        yield way_of(look, shard_key(look, asked.what, asked.source), asked.row, seconds=asked.seconds)
    else:
        for one in _named(look, asked):
            yield one.way(look, asked.seconds)


def _of_token(look: Look, asked: Asked, dataset: str) -> Way:
    """Returns the steps of the document of a token."""
    known = [entry["name"] for entry in look.corpus.settings.values["datasets"]]
    if dataset not in known:
        raise ConfigError(f"no dataset named {dataset!r}; there are {', '.join(known)}{did_you_mean(dataset, known)}")
    place = (asked.what, asked.row or 0, asked.position)
    if is_exported(look.corpus, dataset):
        origin = trace_export(look.corpus, dataset, *place).origin
    else:
        found = trace_row(look.corpus, dataset, *place).found
        if len(found) != 1:
            which = ", ".join(document_name(one.source, one.id) for one in found) or "none"
            raise ConfigError(f"documents that hold the text around that token: {which}; ask for one of them by its id")
        (origin,) = found
    if origin.shard is None or origin.row is None:
        raise ConfigError(
            f"the raw row of {document_name(origin.source, origin.id)} is not known; ask for it by its id"
        )
    return way_of(look, origin.shard, origin.row, seconds=asked.seconds)


def _named(look: Look, asked: Asked) -> list[Match]:
    """Returns the documents that a name means; `ConfigError` lists them if there are several.

    For a text all documents that have it are returned, and for an id all of a source.
    """
    matches = named(look, asked.what, asked.source)
    if not matches.found:
        raise ConfigError(not_found(look, asked.what, asked.source, matches.unfinished))
    if len(matches.names("digest")) < 2 and len({one.by == "digest" for one in matches.found}) == 1:
        return matches.found
    if len({(one.source, one.id) for one in matches.found}) == 1:
        return matches.found
    shown = listed(look, matches, lambda shard, row: f"corpus why {shlex.quote(shard)} {row}")
    sources = matches.sources()
    if len({one.id for one in matches.found}) == 1:
        raise ConfigError(
            f"{len(sources)} sources have a document {asked.what!r}: give --source {' or '.join(sources)}; {shown}"
        )
    raise ConfigError(f"{asked.what!r} names {len(matches.found)} documents: {shown}")


def _lines(way: Way) -> Iterator[str]:
    name = f"{way.origin.source}/(none)" if way.number is None else document_name(way.origin.source, way.origin.id)
    yield f"document  {name}"
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
    reached = way.reached()
    ended = "left out  of" if reached else "ended     in"
    for end in dict.fromkeys((end.stage, end.reason) for end in way.ends()):
        yield f"{ended} {end[0]}" + (f": {end[1]}" if end[1] else "")
    if reached:
        yield f"reached   {', '.join(reached)}"
    if unknown := way.unknown():
        yield f"not known {', '.join(unknown)}"


def _further(step: Step) -> Iterator[str]:
    if step.other is not None:
        yield f"{'':10}kept: {_where(step.other)}"
    for other in step.details.get("others", []):
        yield f"{'':10}in its cluster: {document_name(other['source'], other['id'])}"
    if step.stale:
        yield f"{'':10}not as it would be made now; {step.stale}"


def _where(origin: Origin) -> str:
    row = "" if origin.row is None else f" row {origin.row:,}"
    return document_name(origin.source, origin.id) + (f" ({origin.file}{row})" if origin.file else "")


def _shown(text: str) -> str:
    return text.translate(ESCAPES)
