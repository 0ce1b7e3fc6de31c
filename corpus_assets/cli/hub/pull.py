"""`corpus pull`: puts a dataset of the hub into a folder."""

from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from corpus_assets.cli.console import errors, output, print_json, print_line
from corpus_assets.numbers import size
from corpus_assets.publish.hub_faults import named
from corpus_assets.publish.place import dataset_place
from corpus_assets.publish.pulling import pull


def run(address: str, folder: Path, *, as_json: bool) -> None:
    """Pulls, and prints what came."""
    place = dataset_place(address)
    with _bar(disable=as_json) as bar:
        task = bar.add_task("pulling", total=None)
        done = pull(
            place,
            folder,
            begins=lambda count: bar.update(task, total=count),
            on_bytes=lambda count: bar.advance(task, count),
        )
    if as_json:
        print_json({"from": named(place), "to": str(folder), **done.__dict__})
        return
    print_line(
        output(),
        f"{folder}: holds the {done.files:,} files of {named(place)}, commit {done.commit}; {done.fetched:,} of them "
        f"({size(done.bytes)}) came now, and each has the digest that the hub says",
    )


def _bar(*, disable: bool) -> Progress:
    words = TextColumn("{task.description}", markup=False)
    columns = (words, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    console = errors()
    return Progress(*columns, console=console, disable=disable or not console.is_terminal)
