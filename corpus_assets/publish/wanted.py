"""What of a corpus is published: the documents of its splits as Parquet, or the files of a dataset as they lie."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from corpus_assets import dataset_names as names
from corpus_assets.card.assets import NAME as CARD
from corpus_assets.card.counting import SPLITS
from corpus_assets.card.dataset_card import published_card
from corpus_assets.card.facts import FileFacts
from corpus_assets.config.datasets.text_exports import is_text
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.publish.tables import VERSION, write_documents
from resources.errors import ConfigError, DamagedFileError, NotBuiltError
from resources.formats.known import fault_of
from resources.hashing import content_digest
from resources.ledger.records import FileRecord, Record
from resources.planning.planner import Status
from resources.stage.partition import Partition

DOCUMENTS = "documents"
README = "README.md"


@dataclass(frozen=True)
class Wanted:
    """A file to publish. made_of: the digest of what it is made of. make: writes it to a path, if it has to be sent."""

    path: str
    made_of: str
    make: Callable[[Path], Any]


def wanted_files(corpus: Corpus, dataset: str | None) -> list[Wanted]:
    """Returns the files to publish, the card first: of a dataset, or else the documents of all splits.

    `ConfigError` for a corpus without papers, a dataset that it does not have, and partitions that are not fresh.
    """
    if CARD not in corpus.graph.stages:
        raise ConfigError(
            f"{corpus.file}: has no section `card`, of which the dataset card is made; valid is `card: {{}}`"
        )
    if dataset is None:
        assets, publishes = [name for name in SPLITS if name in corpus.graph.stages], _documents
        if not assets:
            datasets = ", ".join(entry.name for entry in corpus.config.datasets)
            raise ConfigError(
                f"{corpus.file}: has no documents, only datasets; valid: --dataset with one of {datasets}"
            )
    else:
        assets = _assets_of(corpus, dataset)
        publishes = partial(_files, dataset=_entry(corpus, dataset))
    records = _fresh_records(corpus, [*assets, CARD])
    (card,) = records.pop(CARD)
    files, facts, splits = publishes(corpus, records)
    text = Partition(corpus.storage, card).content(README, keep=False).decode()
    content = published_card(text, facts, splits).encode()
    return [Wanted(README, content_digest(content), lambda file: file.write_bytes(content)), *files]


Published = tuple[list[Wanted], list[FileFacts], Mapping[str, str]]
"""Files; what the card says of them; and the pattern of each split that `load_dataset` can read."""


def _documents(corpus: Corpus, records: Mapping[str, Sequence[Record]]) -> Published:
    """Returns a Parquet file for each partition of a split that has documents."""
    files, facts, splits = [], [], {}
    for asset, made in records.items():
        split = SPLITS[asset]
        full = [record for record in made if record.statistics["rows_out"]]
        if full:
            splits[split] = f"data/{split}/*.parquet"
            rows = sum(record.statistics["rows_out"] for record in full)
            facts.append(FileFacts(DOCUMENTS, "parquet", split, splits[split], len(full), rows))
        for record in full:
            made_of = content_digest(f"documents {VERSION} {record.digest}".encode())
            files.append(Wanted(f"data/{split}/{record.partition}.parquet", made_of, partial(_write, corpus, record)))
    return files, facts, splits


def _write(corpus: Corpus, record: Record, file: Path) -> None:
    write_documents(Partition(corpus.storage, record).documents(), file)


def _entry(corpus: Corpus, dataset: str) -> Mapping[str, Any]:
    entries: Iterable[Mapping[str, Any]] = corpus.settings.values["datasets"]
    found = next((entry for entry in entries if entry["name"] == dataset), None)
    if found is None:
        known = ", ".join(entry["name"] for entry in entries) or "none"
        raise ConfigError(f"--dataset {dataset!r}: {corpus.file} has no such dataset; valid: {known}")
    return found


def _assets_of(corpus: Corpus, dataset: str) -> list[str]:
    """Returns the assets that write the files which a trainer reads."""
    entry = _entry(corpus, dataset)
    named = (names.files(entry), names.params(dataset), names.manifest(dataset))
    return [name for name in dict.fromkeys(named) if name in corpus.graph.stages]


def _files(corpus: Corpus, records: Mapping[str, Sequence[Record]], dataset: Mapping[str, Any]) -> Published:
    """Returns the files of a dataset, as they lie in its folder."""
    name = dataset["name"]
    files, main, rows = [], [], 0
    for asset, made in records.items():
        for record in made:
            for top, file in _in_folder(record, name):
                made_of = content_digest(f"file {file.digest} {file.bytes} {file.stored}".encode())
                files.append(Wanted(file.path.removeprefix(top), made_of, partial(_copy, corpus, record, file)))
                if asset == names.files(dataset) and not file.derived:
                    main.append(file.path.removeprefix(top))
            rows += record.statistics.get("rows_out") or 0 if asset == names.files(dataset) else 0
    split = SPLITS.get(dataset["input"], "train") if isinstance(dataset["input"], str) else "train"
    ending = "".join(Path(main[0]).suffixes) if main else ""
    pattern = f"{name}/**/*{ending}" if any(path.count("/") > 1 for path in main) else f"{name}/*{ending}"
    facts = [FileFacts(name, dataset.get("format") or "hdf5", split, pattern, len(main), rows)]
    return files, facts, {split: pattern} if is_text(dataset) and main else {}


def _in_folder(record: Record, dataset: str) -> Iterator[tuple[str, FileRecord]]:
    for file in record.files:
        for top in ("exports/", "tokens/"):
            if file.path.startswith(f"{top}{dataset}/"):
                yield top, file


def _copy(corpus: Corpus, record: Record, stored: FileRecord, file: Path) -> None:
    """Copies a file of the store, once it is compared with its record."""
    fault = fault_of(corpus.storage.open, stored.path, stored.digest, stored.stored)
    if fault:
        raise DamagedFileError(record.asset, record.partition, stored.path, fault)
    with corpus.storage.sequential(stored.path) as source, file.open("wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)


def _fresh_records(corpus: Corpus, assets: Sequence[str]) -> dict[str, list[Record]]:
    """Returns the records of all partitions of assets; `NotBuiltError` if one of them is not fresh."""
    planner = corpus.planner()
    found = {}
    for name in assets:
        decisions = planner.decisions(corpus.graph.stages[name])
        stale = [one for one in decisions.values() if one.status is not Status.FRESH]
        if stale:
            raise NotBuiltError(
                name,
                stale[0].partition,
                f"{len(stale):,} of {len(decisions):,} partitions of {name} are not fresh, such as {stale[0].name} "
                f"({stale[0].reason or stale[0].status}); `corpus build` makes them; nothing was published",
            )
        records = planner.records(name)
        found[name] = [records[key] for key in decisions]
    return found
