"""Which documents the ids of windows are of."""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from corpus_assets.reading.origins import Origin, RawRow
from corpus_assets.reading.separated import Run
from corpus_assets.reading.token_stream import TokenStream


class Piece(NamedTuple):
    """Consecutive ids of a window that are of one document or its separators.

    begin, end: which ids of the window, from 0, without the last one.
    document: number of the document in the stream.
    first: which id of the document the piece begins with, from 0; -1 is the separator before it.
    ids: how many ids the document has, without separators.
    raw: its raw row; None if the stream was not opened by a corpus.yaml, or if it was not asked for.
    """

    begin: int
    end: int
    document: int
    first: int
    ids: int
    origin: Origin
    raw: RawRow | None


def pieces_of(stream: TokenStream, windows: Sequence[Sequence[Run]], *, raw: bool) -> list[list[Piece]]:
    """Returns the pieces of each window. windows: the runs of ids of each. raw: whether raw rows are looked up."""
    documents = list(dict.fromkeys(run.document for runs in windows for run in runs))
    rows = dict(zip(documents, stream.raw_rows(documents), strict=True)) if raw else {}
    return [
        [
            Piece(
                end - run.size,
                end,
                run.document,
                run.first,
                stream.length_of(run.document),
                stream.origin(run.document),
                rows.get(run.document),
            )
            for run, end in zip(runs, accumulate(run.size for run in runs), strict=True)
        ]
        for runs in windows
    ]
