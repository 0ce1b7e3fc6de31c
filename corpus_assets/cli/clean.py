"""`corpus clean`: removes orphans, files that no record names, and temporary files of killed writers."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.raw.losses import refused_deletions
from corpus_assets.unowned import unowned_files
from resources.errors import ConfigError
from resources.ledger.ledger import Record
from resources.storage.ownership import require_owner, take_over
from resources.storage.removal import remove_files


@dataclass(frozen=True)
class Cleaned:
    """The numbers of things that were removed, or would be. unowned: those of the files that no record names."""

    partitions: int
    files: int
    temporary: int
    unowned: int = 0


def run(config: Path | None, *, dry_run: bool, force: bool = False, taking_over: bool = False) -> None:
    """Cleans a corpus and prints what was removed; or only takes its store over from another configuration."""
    corpus = Corpus.open(config, read_only=dry_run and not taking_over)
    if taking_over:
        with corpus.storage.exclusive():
            take_over(corpus.storage, corpus.claimant)
        typer.echo(f"{corpus.storage.place} belongs to {corpus.file} now; nothing was removed")
        return
    reasons = [] if force else refused_deletions(corpus.planner())
    if reasons and not dry_run:
        raise ConfigError("\n".join([*reasons, "nothing was removed; if this is meant: corpus clean --force"]))
    removed = clean_corpus(corpus, dry_run=dry_run)
    verb = "would remove" if dry_run else "removed"
    typer.echo(
        f"{verb} {removed.partitions} orphaned partitions, {removed.files} files, {removed.temporary} temporary folders"
    )
    if reasons:
        typer.echo("\n".join([*reasons, "only with --force: without it corpus clean removes nothing"]))
    if removed.unowned:
        typer.echo(f"{removed.unowned} of the files were named by no record")
    for name, who in corpus.storage.leases():
        typer.echo(f"{name}: its lease is held by {who}; the next build takes it over when it has expired")


def clean_corpus(corpus: Corpus, *, dry_run: bool) -> Cleaned:
    """Removes orphans, files that no record names, and abandoned temporary files.

    The files of an orphan are removed before its record, so that after a kill the next run continues.
    """
    if dry_run:  # A dry run must work on a store that is not writable, so it takes no lock.
        require_owner(corpus.storage, corpus.claimant)
        return _clean(corpus, dry_run=True)
    with corpus.exclusive():
        return _clean(corpus, dry_run=False)


def _clean(corpus: Corpus, *, dry_run: bool) -> Cleaned:
    orphans = corpus.planner().plan().orphans
    doomed = {orphan: corpus.ledger.records(orphan[0])[orphan[1]] for orphan in orphans}
    owned = {file.path for record in _live(corpus, set(orphans)) for file in record.files}
    files = {file.path for record in doomed.values() for file in record.files} - owned
    unowned = unowned_files(corpus, corpus.ledger)
    temporary = corpus.storage.abandoned()
    if not dry_run:
        for (asset, key), record in doomed.items():
            remove_files(corpus.storage, {file.path for file in record.files} & files)
            corpus.storage.require_held()
            corpus.ledger.forget(asset, key)
        remove_files(corpus.storage, unowned)
        corpus.storage.remove_abandoned()
    return Cleaned(len(orphans), len(files) + len(unowned), len(temporary), len(unowned))


def _live(corpus: Corpus, orphans: set[tuple[str, str | None]]) -> Iterator[Record]:
    for asset in corpus.ledger.assets():
        for key, record in corpus.ledger.records(asset).items():
            if (asset, key) not in orphans:
                yield record
