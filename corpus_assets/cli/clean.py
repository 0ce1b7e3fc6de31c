"""`corpus clean`: removes orphans, which are partitions whose raw file, band, chunk or asset is gone."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from corpus_assets.corpus import Corpus
from resources.ledger import Record


@dataclass(frozen=True)
class Cleaned:
    """The numbers of things that were removed, or would be."""

    partitions: int
    files: int
    temporary: int


def run(config: Path | None, *, dry_run: bool) -> None:
    """Cleans a corpus and prints what was removed."""
    removed = clean_corpus(Corpus.open(config), dry_run=dry_run)
    verb = "would remove" if dry_run else "removed"
    typer.echo(
        f"{verb} {removed.partitions} orphaned partitions, {removed.files} files, {removed.temporary} temporary folders"
    )


def clean_corpus(corpus: Corpus, *, dry_run: bool) -> Cleaned:
    """Removes orphans (their records, then the files that no other partition owns) and abandoned temporary files."""
    with corpus.exclusive():
        return _clean(corpus, dry_run)


def _clean(corpus: Corpus, dry_run: bool) -> Cleaned:
    orphans = corpus.planner().plan().orphans
    doomed = {orphan: corpus.ledger.records(orphan[0])[orphan[1]] for orphan in orphans}
    owned = {file.path for record in _live(corpus, set(orphans)) for file in record.files}
    files = {file.path for record in doomed.values() for file in record.files} - owned
    temporary = corpus.storage.abandoned()
    if not dry_run:
        for asset, key in orphans:
            corpus.ledger.forget(asset, key)
        for path in files:
            corpus.storage.delete(path)
        corpus.storage.remove_abandoned()
    return Cleaned(len(orphans), len(files), len(temporary))


def _live(corpus: Corpus, orphans: set[tuple[str, str | None]]) -> Iterator[Record]:
    for asset in corpus.ledger.assets():
        for key, record in corpus.ledger.records(asset).items():
            if (asset, key) not in orphans:
                yield record
