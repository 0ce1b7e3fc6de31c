"""What is wrong with the files of datasets of texts; workers look for it, so Dagster is not loaded here."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from corpus_assets.export.format import TOTALS
from corpus_assets.export.texts.datasets import TextDataset
from corpus_assets.export.texts.files import as_read, read_rows
from corpus_assets.export.texts.refused import RefusedError
from corpus_assets.export.texts.rows import Row, Rows
from corpus_assets.faults import UNREADABLE, unread
from resources.formats.examples import decode_example
from resources.ledger.ledger import Record
from resources.stage.partition import Partition
from resources.storage.interface import Storage


def faults_of(record: Record, dataset: TextDataset, storage: Storage, given: Mapping[str, Record]) -> list[str]:
    """Returns what is wrong with the files of a partition, in words. given: records of what it is made of, by key."""
    made = Partition(storage, record, compared=False)
    if (read := given.get(made.key or "")) is None:
        return []
    try:
        faults = list(_faults(made, dataset, Partition(storage, read, compared=False)))
    except UNREADABLE as error:
        faults = [unread(error)]
    return [f"{made.key or made.name}: {fault}" for fault in faults]


def _faults(made: Partition, dataset: TextDataset, given: Partition) -> Iterator[str]:
    """Yields the first row that is another than one made again, and numbers of rows that do not add up."""
    totals = made.counters(TOTALS)
    lost = sum(numbers["documents"] for numbers in totals["dropped"].values())
    if totals["documents"] != totals["units"] + lost:
        yield f"{totals['documents']:,} rows came in; {totals['units']:,} went out, {lost:,} are counted as dropped"
    section = dataset.section
    found = (row for file in made.record.files for row in read_rows(made.open(file.path), section.files))
    wanted = rows_again(dataset, given)
    for number, (row, again) in enumerate(zip_longest(found, wanted)):
        if row is None or again is None:
            yield f"row {number:,} is {'missing' if row is None else 'one too many'}"
            return
        if row != as_read(again.values, section):
            yield f"row {number:,} is not that of {again.source}/{again.id}"
            return


def rows_again(dataset: TextDataset, given: Partition) -> Iterator[Row]:
    """Yields the rows of a partition without those that are refused."""
    maker = Rows(dataset.section)
    for line in given.lines():
        try:
            yield maker.row(decode_example(line))
        except RefusedError:
            continue
