"""Documents by any name that a command or page prints: id, SOURCE/ID, file and row, digest of the text, URL.

Everything that takes the name of a document reads it here. An ambiguous name gives all documents that it may mean.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from corpus_assets.filter.assets import FILTERED, READ
from corpus_assets.tracing.finding import Found, Sought, find_documents, url_keys
from corpus_assets.tracing.kept_rows import number_before_filter
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.origins import read_by
from corpus_assets.tracing.rows.raw import number_of, row_at
from corpus_assets.tracing.step import Way
from corpus_assets.tracing.tables import count_of, rows_in
from corpus_assets.tracing.way import named_at, way_of, way_of_document
from resources.documents.names import document_name, ids_of, parts_of, start_of
from resources.errors import ConfigError
from resources.stage.graph import did_you_mean
from resources.stage.partition import Partition

MOST = 20
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-fA-F]{64})")
_ROW = re.compile(r"(?P<file>.+?),? (?P<unit>row|line) (?P<row>\d[\d,]*)(?: from 0)?", re.DOTALL)
_PLACE = re.compile(r"document (?P<number>\d[\d,]*) of (?P<shard>.+)", re.DOTALL)


class Match(NamedTuple):
    """A row of a raw file that a name means.

    number: of its document in its shard; None if it gave none, and then `row` is that of the raw file. by: what of it
    was named.
    """

    source: str
    id: str
    shard: str
    number: int | None
    row: int | None
    by: str

    def way(self, look: Look, seconds: float) -> Way:
        """Returns its way. seconds: for searching rows of HDF5."""
        if self.number is None:
            return way_of(look, self.shard, self.row or 0, seconds=seconds)
        return way_of_document(look, self.shard, self.number, seconds=seconds)


@dataclass(frozen=True)
class Matches:
    """The documents that a name means. unfinished: in words, what was not searched in time; empty if everything was."""

    found: list[Match]
    unfinished: str = ""

    def sources(self) -> list[str]:
        """Returns the sources of what was found."""
        return list(dict.fromkeys(one.source for one in self.found))

    def names(self, by: str) -> set[tuple[str, str]]:
        """Returns source and id of all that was not found by this."""
        return {(one.source, one.id) for one in self.found if one.by != by}


def named(look: Look, name: str, source: str | None = None, *, limit: int = MOST, seconds: float = 60.0) -> Matches:
    """Returns what a name means, and each once. source: only of this one.

    limit: most documents by one reading of the name. seconds: for each search. Raises `ConfigError` for a source that
    there is not, and if nothing was found for a row that a file does not have.
    """
    found: dict[tuple[str, int | None, int | None], Match] = {}
    unfinished: list[str] = []
    faults: list[ConfigError] = []
    for by, sought in _searches(look, name, source):
        if by == "url" and found:  # This may read all documents, since an id may be a URL.
            continue
        results = find_documents(look, sought, limit=limit, seconds=seconds)
        for one in results.found:
            found.setdefault((one.shard, one.number, None), _match(one, by))
        if results.cursor is not None and len(results.found) < limit:
            unfinished.append(f"the first {results.looked_at:,} of {results.total:,} documents")
    for read in (_at_row, _at_place):
        try:
            for match in read(look, name):
                if source in (None, match.source):
                    found.setdefault((match.shard, match.number, match.row if match.number is None else None), match)
        except ConfigError as error:
            faults.append(error)
    if faults and not found:
        raise faults[0]
    return Matches(list(found.values()), ", ".join(dict.fromkeys(unfinished)))


def not_found(look: Look, name: str, source: str | None, unfinished: str) -> str:
    """Returns in words that a name means nothing, with one that is near."""
    if unfinished:
        return f"{name!r} was not found in {unfinished}; give its source with --source"
    near = find_documents(look, Sought(id_piece=name, source=source), limit=3, seconds=2.0).found
    if not near and len(name) > 4:
        near = find_documents(look, Sought(id_piece=name[: len(name) // 2 + 1]), limit=50, seconds=1.0).found
    hint = did_you_mean(name, [one.id for one in near]) or "".join(f" (an id holds it: {one.id!r})" for one in near[:1])
    where = f" in source {source}" if source else ""
    digest = " or the text digest" if _DIGEST.fullmatch(name) else ""
    url = f" or the URL (metadata {', '.join(url_keys(look))})" if "://" in name else ""
    return (
        f"no document{where} has the id{digest}{url} {name!r}{hint}; "
        "of a row that gave no document ask with its raw file and row: corpus why FILE ROW"
    )


def shard_key(look: Look, name: str, source: str | None = None) -> str:
    """Returns the key of a raw file, given as its key, its path, or how its path ends.

    Raises `ConfigError` if there is none of that name, or several.
    """
    found = _shards_named(look, name, source)
    if len(found) == 1:
        return found[0]
    if found:
        raise ConfigError(f"{len(found)} raw files end with {name!r}: {', '.join(found[:5])}; give one of these keys")
    shards = [shard for shard in look.planner.listing.shards if source in (None, shard.source)]
    known = [text for shard in shards for text in (shard.key, shard.label)]
    raise ConfigError(f"no raw file {name!r}{did_you_mean(name, known)}; with a row, give a raw file or its shard")


def _shards_named(look: Look, name: str, source: str | None = None) -> list[str]:
    """Returns the keys of the raw files that a name may mean; of one that is gone, but still stored, its key."""
    shards = [shard for shard in look.planner.listing.shards if source in (None, shard.source)]
    exact = [shard.key for shard in shards if shard.key == name] or [s.key for s in shards if s.label == name]
    found = exact or [shard.key for shard in shards if f"/{shard.full_path}".endswith(f"/{name.lstrip('/')}")]
    gone = found or source not in (None, name.partition("--")[0])
    return found if gone or look.partition(look.asset_of(name), name) is None else [name]


def _searches(look: Look, name: str, source: str | None) -> Iterator[tuple[str, Sought]]:
    """Yields the searches for all documents that a name may mean, each with what it goes by."""
    settings = look.corpus.settings
    known = [*settings.sources(), *(entry["name"] for entry in settings.inputs())]
    if digest := _DIGEST.fullmatch(name):
        yield "digest", Sought(digest=bytes.fromhex(digest[1]), source=source)
    given = [(source, name), *((of, rest) for of, rest in parts_of(name, known) if source in (None, of))]
    for of, one in given:
        by = "id" if one is name else "name"
        for identifier in ids_of(one):
            yield by, Sought(id=identifier, source=of)
        if (start := start_of(one)) is not None:
            yield f"beginning of {by}", Sought(id_start=start, source=of)
    if "://" in name:
        yield "url", Sought(url=name, source=source)


def _match(one: Found, by: str) -> Match:
    return Match(one.source, one.id, one.shard, one.number, None, by)


def _at_row(look: Look, name: str) -> Iterator[Match]:
    """Yields the row of a raw file that a name says: `FILE, row N`, `FILE line N` of a bad row as notes say it."""
    said = _ROW.fullmatch(name)
    if said is None:
        return
    row = int(said["row"].replace(",", ""))
    for key in _shards_named(look, said["file"]) if said["unit"] == "row" else ():
        made = look.partition(look.asset_of(key), key)
        if made is not None:
            yield _at(made, number_of(made, row), row)
    for shard in look.planner.listing.shards:
        made = look.partition(look.asset_of(shard.key), shard.key)
        if made is None or not name.startswith((f"{shard.label} ", f"{shard.label}/")):
            continue
        bad = row_at(look, made, name.removeprefix(f"{shard.source}/"))
        if bad is not None:
            yield _at(made, number_of(made, bad), bad)


def _at_place(look: Look, name: str) -> Iterator[Match]:
    """Yields the document that a name gives by its number: `document N of SHARD`, or `of ASSET/SHARD`."""
    said = _PLACE.fullmatch(name)
    if said is None:
        return
    number = int(said["number"].replace(",", ""))
    asset, slash, key = said["shard"].partition("/")
    if not slash:
        asset, key = look.asset_of(asset), asset
    made = look.partition(asset, key)
    examples = [read_by(look.corpus, entry["name"]) for entry in look.corpus.settings.inputs()]
    if made is None or asset not in (READ, FILTERED, *examples):
        return
    rows = rows_in(made)
    if number >= rows:
        raise ConfigError(f"{made.name} has {rows:,} documents; number {number:,} was asked for")
    if asset == FILTERED:
        number = number_before_filter(look, key, number)
        made = look.shard(READ, key)
        if number >= count_of(made):
            raise ConfigError(f"{asset}/{key} was made of other documents than those that are there now")
    yield _at(made, number, None)


def _at(made: Partition, number: int | None, row: int | None) -> Match:
    key = made.key or ""
    if number is None:
        return Match(key.partition("--")[0], "", key, None, row, "row")
    identifier = named_at(made, number)
    return Match(key.partition("--")[0], identifier, key, number, None, "row")


def listed(look: Look, matches: Matches, command: Callable[[str, int], str]) -> str:
    """Returns all documents that a name means, each with how to ask for it alone. command: of a raw file and a row."""
    return "; ".join(_listed(look, one, command) for one in matches.found[:MOST])


def _listed(look: Look, one: Match, command: Callable[[str, int], str]) -> str:
    if one.number is None:
        return f"a row that gave no document: {command(one.shard, one.row or 0)}"
    row = look.origin(one.source, one.id, one.shard, one.number).row
    alone = "" if row is None else f": {command(one.shard, row)}"
    return f"{document_name(one.source, one.id)} (by its {one.by}){alone}"
