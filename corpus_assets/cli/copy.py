"""`corpus copy`: copies a corpus to another store."""

import json
from collections.abc import Sequence
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from corpus_assets.cli.console import FAILED, MAX_SHOWN, errors, output, print_json, print_line, selected
from corpus_assets.copying import Copied, copy_corpus
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.numbers import size
from resources.errors import ConfigError

SECTION = "storage."


def run(
    config: Path | None, root: str, only: Sequence[str] | None, changes: Sequence[str], jobs: int, *, as_json: bool
) -> int:
    """Copies a corpus and prints what was done; returns the exit code: 1 if a partition could not be copied."""
    source = Corpus.open(config, read_only=True)
    target = Corpus.open(config, _changes(root, changes))
    assets = [stage.name for stage in selected(source, only)] if only else None
    with _bar(disable=as_json) as bar:
        task = bar.add_task("copying", total=None)
        result = copy_corpus(
            source,
            target,
            assets,
            workers=jobs,
            begins=lambda count: bar.update(task, total=count),
            on_bytes=lambda count: bar.advance(task, count),
        )
    if as_json:
        print_json({"from": source.storage.place, "to": target.storage.place, **result.__dict__})
    else:
        _print(result, target.storage.place)
    return FAILED if result.errors else 0


def _changes(root: str, changes: Sequence[str]) -> list[str]:
    """Returns the changes of corpus.yaml that give the other store; `ConfigError` for a change outside `storage`."""
    if others := [change for change in changes if not change.startswith(SECTION)]:
        raise ConfigError(f"--set {others[0]}: valid are keys below `storage`, such as storage.sync=false")
    kind = "s3" if root.startswith("s3://") else "local"
    return [f"storage.root={json.dumps(root)}", f"storage.kind={kind}", *changes]


def _bar(*, disable: bool) -> Progress:
    words = TextColumn("{task.description}", markup=False)
    columns = (words, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    console = errors()
    return Progress(*columns, console=console, disable=disable or not console.is_terminal)


def _print(result: Copied, place: str) -> None:
    out = output()
    for error in result.errors[:MAX_SHOWN]:
        print_line(out, error, "failed")
    if len(result.errors) > MAX_SHOWN:
        print_line(out, f"and {len(result.errors) - MAX_SHOWN:,} more", "failed")
    print_line(
        out,
        f"{place}: copied {result.copied:,} partitions ({result.files:,} files, {size(result.bytes)}); "
        f"{result.already_there:,} were there already, {len(result.errors):,} failed",
    )
    if result.gone:
        print_line(out, f"{result.gone:,} partitions were removed from the source meanwhile")
    if result.removed:
        print_line(out, f"{result.removed:,} files of replaced partitions were removed from the copy")
