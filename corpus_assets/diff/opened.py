"""Opens the two sides of a comparison: a store, given by its folder or its corpus.yaml, or a kept report."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.opened import Opened, Records
from corpus_assets.diff.numbers import FILE_BYTES, Numbers
from corpus_assets.diff.recorded import READ, numbers_of, recorded, source_of
from corpus_assets.diff.reported import reported
from resources.errors import ConfigError
from resources.ledger.ledger import FOLDER, Ledger
from resources.ledger.records import Record
from resources.raw_places.addresses import scheme_of
from resources.stage.partition import Partition
from resources.storage.interface import Storage
from resources.storage.local.store import LocalStorage
from resources.storage.ownership import owner_of
from resources.storage.read_only import ReadOnlyStorage

CONFIG = "corpus.yaml"
_PAGES = (".json", ".html")
_IDS = ".ids.npy"


class Stored:
    """What the store of a side holds. present: gives the records of an asset that the side has now."""

    def __init__(self, storage: Storage, present: Callable[[str], Records]) -> None:
        self._storage = storage
        self._present = present

    def records(self, asset: str) -> Records:
        """Returns the records of an asset."""
        return self._present(asset)

    def partition(self, asset: str, key: str | None) -> Partition | None:
        """Returns a stored partition; None if there is none."""
        record = self.records(asset).get(key)
        return None if record is None else self.handle(record)

    def handle(self, record: Record) -> Partition:
        """Returns the partition of a record."""
        return Partition(self._storage, record)


@dataclass(frozen=True)
class Side:
    """One side of a comparison. stored: None for what is no store, so that it has no documents."""

    what: str
    numbers: Numbers
    stored: Opened | None = None

    def documents(self, asset: str) -> list[Partition] | None:
        """Returns the shards of an asset with tables of its documents, in order; None if there is no store.

        `ConfigError` for an asset that has none.
        """
        if self.stored is None:
            return None
        records = sorted(self.stored.records(asset).values(), key=lambda record: record.partition or "")
        found = [self.stored.handle(record) for record in records]
        if not all(one.has(_IDS) for one in found) or (not found and asset != READ):
            held = ", ".join(name for name in self.numbers.assets if _has_documents(self.stored, name)) or "none"
            raise ConfigError(f"{self.what} has no asset {asset!r} with documents; it has {held}")
        return found


def _has_documents(stored: Opened, asset: str) -> bool:
    for record in stored.records(asset).values():
        return source_of(record.partition) is not None and any(one.path.endswith(_IDS) for one in record.files)
    return False


def open_side(path: Path) -> Side:
    """Returns a side of a comparison.

    path: a corpus.yaml, a folder with one, the folder of a store, or a report as JSON or as its page. Nothing in it is
    changed. Raises `ConfigError` for anything else.
    """
    if scheme_of(str(path)):
        raise ConfigError("received an address; valid: the corpus.yaml that names it, which says how it is reached")
    if path.is_dir():
        return _of_folder(path)
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file or folder; valid: a store, a corpus.yaml, or a kept report")
    if path.suffix in _PAGES:
        with path.open("rb") as file:
            return Side(str(path), reported(file.read(FILE_BYTES + 1), str(path)))
    return of_corpus(Corpus.open(path, read_only=True))


def of_corpus(corpus: Corpus) -> Side:
    """Returns a corpus as it is now."""
    planner = corpus.planner()

    def records(asset: str) -> Records:
        if asset not in corpus.graph.stages:
            return {}
        keys = set(planner.partitions(corpus.graph[asset]))
        return {key: record for key, record in planner.records(asset).items() if key in keys}

    return Side(corpus.storage.place, numbers_of(planner), Stored(corpus.storage, records))


def _of_folder(folder: Path) -> Side:
    if (folder / FOLDER).is_dir():
        return _of_store(folder)
    if (folder / CONFIG).is_file():
        return of_corpus(Corpus.open(folder / CONFIG, read_only=True))
    raise ConfigError(f"{folder}: has neither a ledger, as a store, nor a {CONFIG}")


def _of_store(folder: Path) -> Side:
    """Returns a store without its corpus.yaml. Partitions that the last build no longer had are left out."""
    storage = ReadOnlyStorage(LocalStorage(folder.absolute()))
    ledger = Ledger(storage)
    owner = owner_of(storage)
    known: dict[str, Records] = {}
    shards = _listed(storage, ledger)
    chunks = {record.parameters.get("mix.chunks") for record in ledger.records("mixed_pass1").values()}

    def is_present(key: str | None) -> bool:
        if source_of(key) is not None:
            return shards is None or key in shards
        number = (key or "").removeprefix("chunk-")
        return not number.isdecimal() or len(chunks) != 1 or int(number) < (next(iter(chunks)) or 0)

    def records(asset: str) -> Records:
        if asset not in known:
            known[asset] = {key: one for key, one in ledger.records(asset).items() if is_present(key)}
        return known[asset]

    name = owner.name if owner else folder.name
    numbers = recorded(name, sorted(ledger.assets()), records)
    if not numbers.assets:
        raise ConfigError(f"{folder}: is a store without a built partition")
    return Side(str(folder), numbers, Stored(storage, records))


class _Shard(msgspec.Struct):
    shard: str


def _listed(storage: Storage, ledger: Ledger) -> set[str] | None:
    """Returns the keys of the raw files when they were last listed; None if that is not known."""
    record: Record | None = ledger.records("inventory").get(None)
    if record is None:
        return None
    decoder = msgspec.json.Decoder(_Shard)
    return {decoder.decode(line).shard for line in Partition(storage, record).lines()}
