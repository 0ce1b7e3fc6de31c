"""From pieces of files to whole documents: without separators, and with the reason for each that is bad."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.token_files.pieces import AnyIds, How, Pieces

OUTSIDE, TOO_LONG = "id_outside_vocabulary", "document_too_long"
REASONS = (OUTSIDE, TOO_LONG)
_MOST_WORDS = 10
_WRAPPED = "; int16 files hold ids over 32,767 as negative ones (`wrapped_ids: true` reads them)"


class Bad(NamedTuple):
    """A document that cannot be used. number: of it in its file, from 0."""

    number: int
    reason: str
    detail: str


class Batch(NamedTuple):
    """Whole documents that follow each other.

    ids: of the good ones, without separators (n,). lengths, numbers: int64 (documents,), how many ids each has, and
    which document of the file it is. bad: the others. without: how many good ones with ids had no separator.
    """

    ids: AnyIds
    lengths: NDArray[np.int64]
    numbers: NDArray[np.int64]
    bad: list[Bad]
    without: int

    def only(self, keep: NDArray[np.bool_]) -> "Batch":
        """Returns the batch with some of the good documents, (documents,)."""
        if keep.all():
            return self
        chosen = self.ids[np.repeat(keep, self.lengths)]
        return self._replace(ids=chosen, lengths=self.lengths[keep], numbers=self.numbers[keep])


def batches(pieces: Iterable[Pieces], how: How) -> Iterator[Batch]:
    """Yields all documents in order. Memory is that of a piece and of the longest document that is no bad one."""
    most = how.section.longest_document
    held, size, number = list[AnyIds](), 0, 0
    for ids, ends in pieces:
        if not len(ends):
            held, size = _longer(held, size, ids, most)
            continue
        lengths = np.diff(ends, prepend=0)
        lengths[0] += size
        body = ids[: ends[-1]]
        if lengths[0] > most and size:
            body = ids[ends[0] : ends[-1]]
            yield _batch(ids[:0], lengths[:1], number, how)
            number, lengths = number + 1, lengths[1:]
        elif size:
            body = np.concatenate([*held, body])
        if len(lengths):
            yield _batch(body, lengths, number, how)
        number += len(lengths)
        held, size = _longer([], 0, ids[ends[-1] :], most)


def _longer(held: list[AnyIds], size: int, ids: AnyIds, most: int) -> tuple[list[AnyIds], int]:
    """Returns the ids of an unfinished document with more, and how many; none are kept of one that is too long."""
    size += len(ids)
    return ([*held, ids] if size <= most else []), size


def _batch(ids: AnyIds, lengths: NDArray[np.int64], first: int, how: How) -> Batch:
    """Returns the documents of these lengths; the ids of a single one that is too long need not be there."""
    bad, most = list[Bad](), how.section.longest_document
    keep = lengths <= most
    for place in np.flatnonzero(~keep).tolist():
        bad.append(Bad(first + place, TOO_LONG, f"{lengths[place]:,} ids; longest_document is {most:,}"))
    if len(ids):
        bad += _outside(ids, lengths, keep, first, how)
    chosen, numbers = lengths[keep], first + np.flatnonzero(keep)
    if not keep.all():
        ids = ids[np.repeat(keep, lengths)] if len(ids) else ids
    ids, chosen, without = _without_separators(ids, chosen, how)
    return Batch(ids, chosen, numbers, sorted(bad), without)


def _outside(ids: AnyIds, lengths: NDArray[np.int64], keep: NDArray[np.bool_], first: int, how: How) -> Iterator[Bad]:
    """Yields the documents with an id outside the vocabulary, and takes them out of `keep`."""
    wrong = np.flatnonzero((ids < 0) | (ids >= how.vocabulary))
    if not len(wrong):
        return
    ends = np.cumsum(lengths)
    documents, at = np.unique(np.searchsorted(ends, wrong, side="right"), return_index=True)
    for count, (place, hit) in enumerate(zip(documents.tolist(), wrong[at].tolist(), strict=True)):
        if not keep[place]:
            continue
        keep[place] = False
        words = ""
        if count < _MOST_WORDS:
            inside = hit - int(ends[place] - lengths[place])
            hint = _WRAPPED if ids.dtype.itemsize == 2 and ids[hit] < 0 else ""
            words = f"id {int(ids[hit]):,} at position {inside:,}; valid: 0 to {how.vocabulary - 1:,}{hint}"
        yield Bad(first + place, OUTSIDE, words)


def _without_separators(ids: AnyIds, lengths: NDArray[np.int64], how: How) -> tuple[AnyIds, NDArray[np.int64], int]:
    """Returns the documents without the separator at their end or beginning, and how many with ids had none."""
    held = lengths > 0
    if how.separator is None or not held.any():
        return ids, lengths, 0
    ends = np.cumsum(lengths)[held]
    places = ends - 1 if how.section.side == "after" else ends - lengths[held]
    has = ids[places] == how.separator
    shorter = lengths.copy()
    shorter[held] -= has
    return np.delete(ids, places[has]), shorter, int(np.count_nonzero(~has))
