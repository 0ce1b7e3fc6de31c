"""Copies a corpus to another store partition by partition, so that an interrupted copy continues where it stopped."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.diff.history import FOLDER as HISTORY
from corpus_assets.orchestration.freshness.failures import FAILURES
from resources.copying import Copier, with_plain_paths
from resources.errors import ConfigError, LedgerError, StorageError
from resources.ledger.obsolete import Key
from resources.ledger.records import Record
from resources.planning.stored_files import StoredFiles
from resources.storage.interface import Storage
from resources.storage.owner_file import OWNER
from resources.storage.ownership import owner_of, require_owner

_BESIDE = (HISTORY, FAILURES)
"""Folders of small files that no record names."""


@dataclass
class Copied:
    """The result of a copy.

    copied: partitions.
    already_there: those that needed nothing.
    gone: those that the source lost meanwhile.
    files, bytes: what was copied, as stored.
    removed: files that replaced partitions of the target had before.
    errors: why a partition or a record could not be copied, in words.
    """

    copied: int = 0
    already_there: int = 0
    gone: int = 0
    files: int = 0
    bytes: int = 0
    removed: int = 0
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Due:
    """A partition to copy. before: what the target has of it. record_only: whether its files are there already."""

    record: Record
    before: Record | None
    record_only: bool

    @property
    def bytes(self) -> int:
        """The bytes that have to be copied."""
        return 0 if self.record_only else sum(file.bytes for file in self.record.files)


def copy_corpus(
    source: Corpus,
    target: Corpus,
    assets: Sequence[str] | None = None,
    *,
    workers: int = 4,
    begins: Callable[[int], None] = lambda _: None,
    on_bytes: Callable[[int], None] = lambda _: None,
) -> Copied:
    """Copies the partitions that the target lacks, several at a time; holds the target meanwhile.

    target: the same corpus with another store. assets: whose partitions are copied; by default all, with what no record
    names. begins: called once with the number of bytes to copy. on_bytes: called by any thread with the number of bytes
    each time some were copied. `ConfigError` for stores that overlap; `StorageError` unless both are this corpus's, or
    the target is empty.
    """
    _require_apart(source.storage, target.storage)
    require_owner(source.storage, source.claimant)
    _require_ours_or_empty(target)
    with target.exclusive():
        target.storage.remove_abandoned()
        copying = _Copying(source, target)
        due = list(copying.due(_all_assets(source) if assets is None else assets))
        begins(sum(one.bytes for one in due))
        copier = Copier(source.ledger, target.ledger, on_bytes)
        pool = ThreadPoolExecutor(workers)
        try:
            for one, (record, error) in zip(due, pool.map(partial(_made, copier), due), strict=True):
                copying.made(one, record, error)
        finally:
            pool.shutdown(cancel_futures=True)
        copying.end()
        if assets is None:
            _copy_beside(source.storage, target.storage)
    return copying.result


def _require_apart(source: Storage, target: Storage) -> None:
    """Raises `ConfigError` if one store lies in the other."""
    ours, theirs = _folder(source), _folder(target)
    if ours.startswith(theirs) or theirs.startswith(ours):
        raise ConfigError(f"{target.place} overlaps the store {source.place}; valid is a place apart from it")


def _folder(storage: Storage) -> str:
    place = Path(storage.place)
    return f"{place.resolve() if place.is_absolute() else storage.identity.rstrip('/')}/"


def _require_ours_or_empty(target: Corpus) -> None:
    """Raises `StorageError` if the target belongs to another corpus, or is neither empty nor a corpus."""
    storage = target.storage
    if owner_of(storage) is not None:
        require_owner(storage, target.claimant)
    elif stranger := next((path for path in storage.paths("") if not path.startswith(".")), None):
        raise StorageError(
            f"{storage.place}: holds {stranger} and no {OWNER} that can be read; valid is an empty place, or a copy of "
            "this corpus"
        )


def _all_assets(corpus: Corpus) -> list[str]:
    """Returns the names of all assets that have records, in the order the data flows; those of no stage come last."""
    place = {stage.name: number for number, stage in enumerate(corpus.graph)}
    return sorted(corpus.ledger.assets(), key=lambda name: (place.get(name, len(place)), name))


def _made(copier: Copier, due: Due) -> tuple[Record | None, str]:
    """Copies a partition; returns its record in the target and, of damage in the source, what it is in words."""
    try:
        if due.record_only and due.before is not None:
            return copier.copy_record(due.record, due.before), ""
        return copier.copy(due.record), ""
    except LedgerError as error:
        return None, str(error)


def _copy_beside(source: Storage, target: Storage) -> None:
    """Copies the small files that no record names."""
    for path in (path for folder in _BESIDE for path in source.paths(folder)):
        with suppress(FileNotFoundError), source.open(path) as file:
            target.write(path, file.read())


class _Copying:
    """The state of the target while it is copied to."""

    def __init__(self, source: Corpus, target: Corpus) -> None:
        self.result = Copied()
        self._source = source
        self._target = target
        self._present: dict[str, dict[str | None, Record]] = {}
        self._new: Counter[str] = Counter()
        self._replaced: dict[Key, set[str]] = {}

    def due(self, assets: Iterable[str]) -> Iterator[Due]:
        """Yields the partitions to copy; counts the others, and notes the damaged records of the source."""
        stored = StoredFiles(self._target.storage)
        for asset in assets:
            present = self._present[asset] = self._target.ledger.records(asset)
            for key, record in self._source.ledger.records(asset).items():
                before = present.get(key)
                if before is None or stored.damage(before):
                    yield Due(record, before, record_only=False)
                elif (theirs := with_plain_paths(before)) != (ours := with_plain_paths(record)):
                    yield Due(record, before, record_only=ours.files == theirs.files)
                else:
                    self.result.already_there += 1
        unreadable = sorted(self._source.ledger.unreadable.items())
        self.result.errors += [f"{path}: damaged record: {why}" for path, why in unreadable]

    def made(self, due: Due, record: Record | None, error: str) -> None:
        """Notes a partition that was due."""
        if error:
            self.result.errors.append(error)
        elif record is None:
            self.result.gone += 1
        else:
            self._present[record.asset][record.partition] = record
            self._new[record.asset] += 1
            self._count(due, record)

    def _count(self, due: Due, record: Record) -> None:
        self.result.copied += 1
        if not due.record_only:
            self.result.files += len(record.files)
            self.result.bytes += sum(file.bytes for file in record.files)
            if due.before:
                self._replaced[record.asset, record.partition] = {file.path for file in due.before.files}

    def end(self) -> None:
        """Passes the commits to the target's ledger, and removes the files of replaced records."""
        for asset, count in self._new.items():
            self._target.ledger.adopt(asset, self._present[asset], count)
        self.result.removed = self._target.remove_obsolete(self._replaced)
