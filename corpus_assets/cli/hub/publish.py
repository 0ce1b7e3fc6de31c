"""`corpus publish`: makes a dataset of the hub hold what the corpus publishes."""

from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from corpus_assets.card.assets import NAME as CARD
from corpus_assets.cli.console import errors, output, print_json, print_line, print_notes
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.numbers import size
from corpus_assets.publish.hub_faults import named
from corpus_assets.publish.place import dataset_place
from corpus_assets.publish.publishing import publish


def run(config: Path | None, address: str, dataset: str | None, *, create: bool, replace: bool, as_json: bool) -> None:
    """Publishes, and prints what was sent."""
    place = dataset_place(address)
    corpus = Corpus.open(config, read_only=True)
    with _bar(disable=as_json) as bar:
        task = bar.add_task("publishing", total=None)
        done = publish(
            corpus,
            place,
            dataset,
            create=create,
            replace=replace,
            begins=lambda files: bar.update(task, total=files),
            on_file=lambda: bar.advance(task),
        )
    if as_json:
        print_json({"to": named(place), **done.__dict__})
        return
    print_notes(output(), _blanks(corpus))
    words = (
        f"sent {done.sent:,} files ({size(done.bytes)}), removed {done.removed:,}, {done.kept:,} were there"
        if done.has_changes
        else f"nothing differs from the {done.kept:,} files there"
    )
    print_line(output(), f"{named(place)}: {words}; commit {done.commit}")


def _bar(*, disable: bool) -> Progress:
    words = TextColumn("{task.description}", markup=False)
    console = errors()
    disable = disable or not console.is_terminal
    return Progress(words, BarColumn(), MofNCompleteColumn(), TextColumn("files"), console=console, disable=disable)


def _blanks(corpus: Corpus) -> list[str]:
    record = corpus.ledger.read(CARD, None)
    blanks = record.statistics.get("to_be_written", 0) if record else 0
    return [f"the card has {blanks:,} places that a person must write (card/to-be-written.json)"] if blanks else []
