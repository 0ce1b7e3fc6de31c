"""Which windows of which passages are compared one by one, and what is known of all others."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.substrings.rule import BOILERPLATE, DOCUMENTS_SHIFT, REPEATED, SEVERAL, is_counted
from corpus_assets.config.selection.kinds.substrings import Substrings
from resources.stage.partition import Partition

Columns = NDArray[np.int64]


class Asked(NamedTuple):
    """Passages (n,): their windows, and the windows, `asked` from `first` on, that are compared one by one."""

    sizes: Columns
    first: Columns
    asked: Columns


def asked_windows(runs: NDArray[Any], answers: NDArray[Any], says: NDArray[Any], rule: Substrings) -> Asked:
    """Returns which windows of passages are compared one by one. says: what ranges say of each of them (n,)."""
    sizes = runs["windows"].astype(np.int64) * runs["repeats"]
    several = (says & SEVERAL) != 0
    if is_counted(rule):
        return Asked(sizes, np.zeros_like(sizes), np.where(several, sizes, 0))
    # The first shard with this passage compares its windows for all others.
    own = several & ((says & REPEATED) == 0)
    return Asked(sizes, answers["first"].astype(np.int64), np.where(own, answers["asked"], 0).astype(np.int64))


def undecided(
    runs: NDArray[Any], answers: NDArray[Any], says: NDArray[Any], rule: Substrings
) -> tuple[Columns, Columns, Columns]:
    """Returns for each passage the windows that no other copy of the passage makes repetitions: first, and number.

    And which of these are compared one by one.
    """
    compared = asked_windows(runs, answers, says, rule)
    several = (says & SEVERAL) != 0
    alone = ~several & ((says & REPEATED) == 0)
    first = np.where(alone, answers["first"], compared.first).astype(np.int64)
    asked = np.where(alone, answers["asked"], compared.asked).astype(np.int64)
    return first, asked, compared.asked


def documents_with(says: NDArray[Any], is_first: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Returns for contents that are boilerplate the number of documents that have it, or 1 for later copies; else 0."""
    known = says.astype(np.int64)
    counts = np.where(is_first, known >> DOCUMENTS_SHIFT, 0)
    return np.where(known & BOILERPLATE, np.maximum(counts, 1), 0)


def answers_of(windows: Partition, says: NDArray[Any]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Returns for each compared window of a shard whether it is repeated, and `documents_with` it."""
    found = windows.array(".answers.npy")
    of = says[found["number"]]
    repeated = ((found["asked"] == 0) | ((of & REPEATED) != 0)).astype(np.uint32)
    return repeated, documents_with(of, found["is_first"]).astype(np.uint32)
