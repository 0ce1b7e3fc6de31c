"""Numbers of rows of a dataset of texts, and of the documents or examples that they were made of."""

from collections.abc import Iterator
from itertools import islice

from corpus_assets.export.format import TOTALS
from corpus_assets.export.texts.datasets import TextDataset
from corpus_assets.export.texts.refused import RefusedError
from corpus_assets.export.texts.rows import Rows
from resources.formats.examples import decode_example
from resources.stage.partition import Partition


def row_of(dataset: TextDataset, made: Partition, given: Partition, number: int) -> int | RefusedError:
    """Returns the row of document or example `number` of a partition; or why it has none.

    made: the partition with the rows, given: that of which they were made. Rows are as the documents, unless any was
    refused: then those before it are made again.
    """
    if not made.counters(TOTALS)["dropped"]:
        return number
    row = 0
    for found in islice(_found(dataset, given), number):
        row += found is None
    refused = next(islice(_found(dataset, given), number, None))
    return row if refused is None else refused


def number_of(dataset: TextDataset, made: Partition, given: Partition, row: int) -> int:
    """Returns the number of the document or example of a row that there is; see `row_of`."""
    if not made.counters(TOTALS)["dropped"]:
        return row
    written = (number for number, found in enumerate(_found(dataset, given)) if found is None)
    return next(islice(written, row, None))


def _found(dataset: TextDataset, given: Partition) -> Iterator[RefusedError | None]:
    """Yields for each document or example why it has no row; None if it has one."""
    maker = Rows(dataset.section)
    for line in given.lines():
        try:
            maker.row(decode_example(line))
        except RefusedError as error:
            yield error
        else:
            yield None
