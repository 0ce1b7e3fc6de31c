"""Token rows as a trainer gets them: their tokens, the loss, and their documents."""

from typing import Any

from corpus_assets.config.datasets.exports import is_export
from corpus_assets.tracing.from_tokens.offsets import length_of_rows, position_of
from corpus_assets.viewer.browse import pages, partition_address
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.overview import dataset_rows
from corpus_assets.viewer.site import Asked, link, page
from corpus_assets.viewer.token_files import TokenFile, file_of, files_of
from corpus_assets.viewer.tokens.rows import POSITIONS, asset_of, exported_row, hdf5_row
from resources.hashing import keyed_hash

MOST_FILES = 500


def datasets(asked: Asked) -> str:
    """Shows all datasets."""
    return page(asked, "tokens.html", "Token rows", datasets=dataset_rows(asked.view))


def _row_of_all(files: list[TokenFile], number: int) -> tuple[TokenFile, int]:
    """Returns the file and row of a row of the dataset, counted over all of its files in order."""
    for file in files:
        if number < file.rows:
            return file, number
        number -= file.rows
    raise AssertionError("the number is below that of all rows")


def _sizes(view: View, files: list[TokenFile]) -> list[int]:
    """Returns how many ids each file has. Rows of HDF5 files of a dataset are all as long as those of the first."""
    if not files or files[0].ids is not None:
        return [file.ids or 0 for file in files]
    length = length_of_rows(view.handle(files[0].record), files[0].path)
    return [file.rows * length for file in files]


def _token_of_all(
    view: View, dataset: str, files: list[TokenFile], sizes: list[int], number: int
) -> tuple[TokenFile, int, int]:
    """Returns the file, row and position of a token of the dataset, counted over all of its files in order."""
    for file, size in zip(files, sizes, strict=True):
        if number < size:
            if file.ids is None:
                return file, *divmod(number, size // file.rows)
            return file, *position_of(view.corpus, dataset, (view.handle(file.record), file.path), number)
        number -= size
    raise AssertionError("the number is below that of all tokens")


def rows(asked: Asked) -> str:
    """Shows one row of a dataset.

    Parameters: `file`, `row`; or `of_all`, a row counted over all files; or `token`, a token counted over all files;
    `at` (position), `as` (text or table).
    """
    view, query = asked.view, asked.query
    name = asked.path["dataset"]
    files = files_of(view, name)
    file = file_of(files, name, query.text("file", 2000))
    every = sum(one.rows for one in files)
    sizes = _sizes(view, files)
    at, token = query.number("at"), query.text("token")
    if token:
        number = query.number("token", high=max(0, sum(sizes) - 1))
        file, row, at = _token_of_all(view, name, files, sizes, number)
    elif query.text("of_all"):
        file, row = _row_of_all(files, query.number("of_all", high=max(0, every - 1)))
    else:
        row = query.number("row", high=file.rows - 1)
    before = sum(one.rows for one in files[: files.index(file)])
    shape = query.one_of("as", ["text", "table"])
    entry = next(entry for entry in view.corpus.settings.values["datasets"] if entry["name"] == name)
    shown = (exported_row if is_export(entry) else hdf5_row)(view, name, file, row, at)

    def here(**changes: Any) -> str:
        given: dict[str, Any] = {"file": file.name, "row": row, "as": "table" if shape == "table" else None}
        return link("tokens", name, **{**given, **changes})

    return page(
        asked,
        "token_row.html",
        f"Row {row:,} of {name}",
        dataset=name,
        asset=partition_address(asset_of(name), file.record.partition),
        file=file.name,
        files=[one.name for one in files[:MOST_FILES]],
        more_files=max(0, len(files) - MOST_FILES),
        row=row,
        of_all=before + row,
        every=every,
        tokens=sum(sizes),
        token=token,
        of_token=link("why", dataset=name, file=file.name, row=row, position=at),
        at=at,
        shown=shown,
        as_table=shape == "table",
        other_shape=here(at=at or None, **{"as": None if shape == "table" else "table"}),
        random=here(row=keyed_hash("row", 0, file.name, row) % file.rows),
        row_pages=pages(row, 1, file.rows, lambda to: here(row=to)),
        positions=pages(at, POSITIONS, shown.size, lambda to: here(at=to or None)) if shown.size > POSITIONS else None,
        mode=entry["format"] if is_export(entry) else entry.get("mode", "lm"),
    )
