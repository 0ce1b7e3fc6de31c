"""Compares the ledger with the files; after mending, the next build rebuilds bad partitions."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.unowned import unowned_files
from corpus_assets.verification.rounds import Round
from resources.errors import HeldError, LedgerError, StorageError
from resources.formats.known import fault_of
from resources.hashing import value_digest
from resources.ledger.ledger import ALL, FileRecord, Ledger, Record, assets_of, partition_name, record_path
from resources.planning.changes import really_read
from resources.stage.graph import Graph
from resources.storage.interface import Storage
from resources.storage.removal import remove_files

Key = tuple[str, str | None]
LEDGER = "ledger"


@dataclass(frozen=True)
class Problem:
    """One file that does not match its record. `asset` is "ledger" for a damaged record."""

    asset: str
    partition: str | None
    file: str
    problem: str


class Unread(Problem):
    """One file that the machine could not read, which says nothing about its content."""


@dataclass
class Verification:
    """The result of a verification.

    checked: number of files.
    read: number of partitions of which every byte was read; left: of those for which the time did not suffice.
    bad: those that do not match.
    unread: those that could not be read.
    suspect: partitions made from bad ones, later.
    unsure: partitions that read the content that is bad now, but are older than it: the bad one was rebuilt since, or
        the clock was set back.
    unowned: files of the store that no record names.
    mended: partitions whose records were removed.
    """

    checked: int = 0
    read: int = 0
    left: int = 0
    bad: list[Problem] = field(default_factory=list)
    unread: list[Problem] = field(default_factory=list)
    suspect: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    unowned: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)


def verify(corpus: Corpus, *, deep: bool, part: Round | None = None) -> Verification:
    """Checks every file that a record names: that it exists, its size, and with `deep` its content.

    part: reads content only as long as this lasts, beginning with what was read least lately. Files that do not match
    are checked again with their present record, so that a build may run meanwhile.
    """
    result = Verification()
    ledger = Ledger(corpus.storage, snapshots=not deep)
    sizes = {entry.path: entry.bytes for entry in corpus.storage.entries("")}
    records = {(asset, key): record for asset in ledger.assets() for key, record in ledger.records(asset).items()}
    names = sorted(records, key=lambda name: (name[0], name[1] or ""))
    result.checked = sum(len(record.files) for record in records.values())
    absent = {name for name in names if any(_presence(file, sizes.get(file.path)) for file in records[name].files)}
    damaged = set(_read_whole(corpus.storage, records, names, part, result)) if deep else set()
    for name in names:
        if name in absent or name in damaged:
            found = _problems_now(corpus.storage, ledger, name, deep=deep and (part is None or name in damaged))
            result.unread += [problem for problem in found if isinstance(problem, Unread)]
            result.bad += [problem for problem in found if not isinstance(problem, Unread)]
    bad = {(problem.asset, problem.partition) for problem in result.bad}
    result.suspect, result.unsure = _suspects(records, bad, corpus.graph)
    result.bad += [
        Problem(LEDGER, None, path, f"damaged record: {why}") for path, why in sorted(ledger.unreadable.items())
    ]
    result.unowned = _unowned(corpus, ledger)
    return result


def _read_whole(
    storage: Storage, records: Mapping[Key, Record], names: Sequence[Key], part: Round | None, result: Verification
) -> Iterator[Key]:
    """Reads partitions whole, and yields the names of those that seem damaged."""
    for name in names if part is None else part.turns(records):
        result.read += 1
        if list(_damage(storage, records[name])):
            yield name
        elif part is not None:
            part.read(name)
    result.left = len(names) - result.read


def mended(corpus: Corpus, result: Verification, *, deep: bool) -> list[str]:
    """Removes the records of partitions that are still bad, holding the store; returns their names."""
    names = []
    with corpus.exclusive():
        for asset, key in dict.fromkeys((problem.asset, problem.partition) for problem in result.bad):
            found = [] if asset == LEDGER else _problems_now(corpus.storage, corpus.ledger, (asset, key), deep=deep)
            if any(not isinstance(problem, Unread) for problem in found):
                corpus.storage.require_held()
                corpus.ledger.forget(asset, key)
                names.append(partition_name(asset, key))
        damaged = _still_damaged(corpus.storage, [problem.file for problem in result.bad if problem.asset == LEDGER])
        remove_files(corpus.storage, damaged)
        names += damaged
    return names


def _still_damaged(storage: Storage, records: Sequence[str]) -> list[str]:
    """Returns those of some damaged records that no build has written again meanwhile."""
    ledger = Ledger(storage, snapshots=False)
    for asset in assets_of(records):
        ledger.records(asset)
    return [path for path in records if path in ledger.unreadable]


def _problems_now(storage: Storage, ledger: Ledger, name: Key, *, deep: bool) -> list[Problem]:
    """Returns the problems of a partition, if its record was the same before and after its files were read."""
    record = _read(ledger, name)
    while record is not None:
        problems = []
        for file in record.files:
            entry = storage.stat(file.path)
            if problem := _presence(file, None if entry is None else entry.bytes):
                problems.append(Problem(*name, file.path, problem))
        missing = {problem.file for problem in problems}
        problems += [found for found in _damage(storage, record) if found.file not in missing] if deep else []
        before, record = record, _read(ledger, name)
        if record == before:
            return problems
    return []


def _read(ledger: Ledger, name: Key) -> Record | None:
    try:
        return ledger.read(*name)
    except LedgerError:
        return None


def _presence(file: FileRecord, size: int | None) -> str | None:
    if size is None:
        return "missing"
    return None if size == file.bytes else f"has {size} bytes, its record says {file.bytes}"


def _damage(storage: Storage, record: Record) -> Iterator[Problem]:
    """Yields the files and counters that do not match the record, and the files that cannot be read."""
    for file in record.files:
        try:
            if problem := fault_of(storage.from_store, file.path, file.digest, file.stored):
                yield Problem(record.asset, record.partition, file.path, problem)
        except StorageError:  # The store does not answer, so no other file would be read either.
            raise
        except (OSError, MemoryError) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            yield Unread(record.asset, record.partition, file.path, f"cannot be read now: {why}")
    for name, value in record.counters.items():
        if (found := value_digest(value)) != record.segments.get(name):
            problem = f"counters {name!r} have digest {found}, the record says {record.segments.get(name)}"
            yield Problem(record.asset, record.partition, record_path(record.asset, record.partition), problem)


def _suspects(records: Mapping[Key, Record], bad: set[Key], graph: Graph) -> tuple[list[str], list[str]]:
    """Returns the names of partitions that were made from bad ones, directly or not, after these were made.

    Then the names of those that read a bad one although they are older, according to their times.
    """
    readers: dict[str, list[Key]] = defaultdict(list)
    for name, record in records.items():
        stand_ins = graph.stages[record.asset].stand_ins if record.asset in graph.stages else {}
        for read in record.inputs if bad else ():
            readers[really_read(read, stand_ins)].append(name)
    reached: set[Key] = set()
    earlier: set[Key] = set()
    frontier = [name for name in bad if name in records]
    while frontier:
        made = records[frontier[-1]].created
        asset, key = frontier.pop()
        read_by = readers[partition_name(asset, key)] + readers[partition_name(asset, ALL)]
        new = {name for name in read_by if records[name].created >= made}
        earlier |= {*read_by} - new if (asset, key) in bad else set()
        frontier += new - reached
        reached |= new
    return _names(reached - bad), _names(earlier - reached - bad)


def _names(keys: Iterable[Key]) -> list[str]:
    return sorted(partition_name(*key) for key in keys)


def _unowned(corpus: Corpus, ledger: Ledger) -> list[str]:
    """Returns the files that no record names; none while a build runs, which writes files before their records."""
    found = unowned_files(corpus, ledger)
    if not found:
        return []
    try:
        with corpus.storage.exclusive():
            return unowned_files(corpus, ledger)
    except HeldError:
        return []
    except (StorageError, OSError):  # A store that may not be written, or fails now, has no builder here.
        return found
