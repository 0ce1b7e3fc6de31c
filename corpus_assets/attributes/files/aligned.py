"""The values of each document of a shard, from the file of attributes beside its raw file: by row, or by id."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from corpus_assets.attributes.files.joined import Joined, UnjoinedError, joined
from corpus_assets.attributes.files.rows import GivenRow
from corpus_assets.attributes.files.texts import Described, document_ids, raw_count, raw_rows
from resources.errors import BadFileError
from resources.stage.task import Task


class Beside(NamedTuple):
    """A document with its values. row: of the file, from 0. values: None if it has none."""

    document: Described
    row: int
    values: Mapping[str, Any] | None


def without(task: Task) -> Iterator[Beside]:
    """Yields the documents of a shard without values."""
    for identifier in document_ids(task.input("normalized_documents")):
        yield Beside(Described(identifier, 0, None), 0, None)


def by_row(task: Task, rows: Iterator[GivenRow], label: str) -> Iterator[Beside]:
    """Yields each document with the values in the row of its raw row; `BadFileError` names the first that differs.

    label: the file. A row of a raw row that gave no document is passed over.
    """
    expected, number = raw_count(task), -1
    for number, document in enumerate(raw_rows(task)):
        row = next(rows, None)
        if row is None:
            _refuse(task, label, number, f"is missing: {number} rows for the {expected} raw rows")
        if document is None:
            continue
        if row.id not in (None, document.id):
            _refuse(task, label, number, f"has id {row.id!r}, and the raw row there has {document.id!r}: it is no row")
        yield Beside(document, number, row.values)
    if more := sum(1 for _ in rows):
        _refuse(task, label, number + 1, f"is one too many: {expected + more} rows for the {expected} raw rows")


def by_id(task: Task, rows: Iterator[GivenRow], label: str, *, skips: bool) -> Iterator[Beside]:
    """Yields each document with the values in the row of its id; `BadFileError` names one without a row.

    skips: such a document has no values instead. Rows may be of raw rows that gave no document, but no others.
    """
    documents = task.input("normalized_documents")
    count = len(documents.array(".texts.npy"))
    try:
        found = joined(rows, document_ids(documents), count, task.memory, task.scratch)
    except UnjoinedError as error:
        raise BadFileError(label if error.row is None else f"{label} row {error.row}", str(error)) from None
    _require_joined(task, found, label, raw_count(task) - count, skips=skips)
    described = (row for row in raw_rows(task) if row is not None)
    for document, (row, values) in zip(described, found.values(), strict=True):
        yield Beside(document, row, values)


def _require_joined(task: Task, found: Joined, label: str, passed_over: int, *, skips: bool) -> None:
    if found.absent and not skips:
        ids = document_ids(task.input("normalized_documents"))
        identifier = next(one for number, one in enumerate(ids) if number == found.first_absent)
        more = f" and {found.absent - 1} more" if found.absent > 1 else ""
        raise BadFileError(
            label,
            f"has no row for document {found.first_absent} of {task.shard.label} (id {identifier!r}){more}; "
            "`on_missing: skip` goes on without",
        )
    if found.unmatched > passed_over:
        raise BadFileError(
            f"{label} row {found.first_unmatched}",
            f"has an id that no row of {task.shard.label} has, as have {found.unmatched} of {found.rows} rows",
        )


def _refuse(task: Task, label: str, row: int, problem: str) -> NoReturn:
    raise BadFileError(
        f"{label} row {row}", f"{problem} of {task.shard.label}; `align: id` joins rows in another order by their ids"
    )
