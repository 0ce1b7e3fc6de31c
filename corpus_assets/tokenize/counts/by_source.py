"""Counts texts, ids and labels in the loss by source, while rows are made from documents."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


class BySource:
    """Counts by source.

    Texts are read one by one, and their ids come later in batches, in the same order. loss_known: False for rows that
    are rearranged afterwards: then ids are counted before that, and labels in the loss not at all.
    """

    def __init__(self) -> None:
        self.loss_known = True
        self._names: dict[str, int] = {}
        self._documents: list[int] = []
        self._bytes: list[int] = []
        self._tokens, self._loss = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._waiting: list[int] = []
        self._last = -1

    def read(self, source: str) -> None:
        """Notes the source of the next document."""
        self._last = self._number(source)
        self._waiting.append(self._last)
        self._documents[self._last] += 1

    def text(self, size: int) -> None:
        """Notes the UTF-8 bytes of the document's text."""
        if self._waiting:
            self._bytes[self._last] += size

    def skip(self) -> None:
        """Notes that the last document gives no ids."""
        if self._waiting:
            self._waiting.pop()

    def divide(self, pieces: list[int]) -> None:
        """Notes the number of lists of ids for each of the next documents."""
        number = len(pieces)
        self._waiting[:number] = np.repeat(self._waiting[:number], pieces[: len(self._waiting)]).tolist()

    def ids(self, sizes: Numbers) -> Numbers:
        """Notes the number of ids of the next documents (n,); returns the number of the source of each (n,).

        Documents without a known source belong to the source without a name.
        """
        taken = self._waiting[: sizes.size]
        del self._waiting[: sizes.size]
        taken += [self._number("")] * (sizes.size - len(taken)) if len(taken) < sizes.size else []
        numbers = np.array(taken, np.int64)
        self._tokens = self._added(self._tokens, numbers, sizes)
        return numbers

    def loss(self, numbers: Numbers, labels: Numbers | None = None) -> None:
        """Notes the sources of labels in the loss. labels: how many labels each entry of `numbers` stands for."""
        self._loss = self._added(self._loss, numbers, labels)

    def totals(self) -> dict[str, dict[str, int]]:
        """Returns documents, UTF-8 bytes of text, ids and labels in the loss of each source, in the order of names."""
        everything = np.arange(len(self._names))
        tokens = self._added(self._tokens, everything, np.zeros_like(everything)).tolist()
        loss = self._added(self._loss, everything, np.zeros_like(everything)).tolist()
        return {
            name: {
                "documents": self._documents[number],
                "text_bytes": self._bytes[number],
                "tokens": tokens[number],
                **({"loss_tokens": loss[number]} if self.loss_known else {}),
            }
            for name, number in sorted(self._names.items())
        }

    def _number(self, source: str) -> int:
        if source not in self._names:
            self._names[source] = len(self._names)
            self._documents.append(0)
            self._bytes.append(0)
        return self._names[source]

    def _added(self, total: Numbers, numbers: Numbers, weights: Numbers | None) -> Numbers:
        # The sums are doubles: exact up to 2^53.
        found = np.bincount(numbers, weights, minlength=len(self._names)).astype(np.int64)
        found[: total.size] += total
        return found


class Runs:
    """The sources of consecutive ids, as runs of a source's number and a number of ids."""

    def __init__(self) -> None:
        self._numbers, self._sizes = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, numbers: Numbers, sizes: Numbers) -> None:
        """Adds the ids of documents at the end."""
        self._numbers = np.concatenate([self._numbers, numbers])
        self._sizes = np.concatenate([self._sizes, sizes])

    def take(self, count: int) -> tuple[Numbers, Numbers]:
        """Removes the first ids, and returns their runs."""
        ends = np.cumsum(self._sizes)
        runs = int(np.searchsorted(ends, count)) + 1 if count else 0
        numbers, sizes = self._numbers[:runs], self._sizes[:runs].copy()
        rest = int(ends[runs - 1]) - count if runs else 0
        if rest:
            sizes[-1] -= rest
            self._sizes[runs - 1] = rest
            runs -= 1
        self._numbers, self._sizes = self._numbers[runs:], self._sizes[runs:]
        return numbers, sizes


def of_one_source(source: str, **numbers: Any) -> dict[str, dict[str, int]]:
    """Returns numbers by source of documents that are all of one; none without documents."""
    return {source: dict(numbers)} if numbers["documents"] else {}
