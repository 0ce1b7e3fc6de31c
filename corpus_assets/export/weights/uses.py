"""How often documents are used: from where in the keyed order of a source to where."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray


class Begun(msgspec.Struct):
    """How a source was used by the datasets before: how many tokens, and of which documents.

    All were used `copies` times, and once more those whose hash is below `threshold` or among the `others`.
    """

    tokens: int = 0
    copies: int = 0
    threshold: int = 0
    others: list[int] = []


class Documents(msgspec.Struct):
    """How a unit is used, in documents: existing ones, as many as have the requested tokens on average, and uses."""

    available: int
    asked: int
    reached: int


class Used(msgspec.Struct, omit_defaults=True):
    """How a source or unit is used: existing, requested and reached tokens, and epochs.

    documents: the same of a unit in documents.
    asked: with `on_excess: share`, the tokens requested before what some cannot have was shared out over the others.

    Documents are used `copies` times, and once more if their hash is below `threshold` or among the `others`; less the
    uses that the datasets before had of them, if there are any (`begun`).
    """

    available: int
    target: int
    reached: int
    epochs: float
    copies: int
    threshold: int
    others: list[int]
    begun: Begun | None = None
    asked: int | None = None
    documents: Documents | None = None

    @property
    def end(self) -> Begun:
        """How it is used by this dataset and those before together."""
        tokens = self.reached + (self.begun.tokens if self.begun else 0)
        return Begun(tokens, self.copies, self.threshold, self.others)


class Mix(msgspec.Struct, omit_defaults=True):
    """The content of `mixture.json`: how each source is used, and the seed of the choice and order of documents.

    unused: sources that only datasets before used. units: how each unit is used, instead of sources. ordered: documents
    stay in the order of the mix, and each further use of all follows in the same order.
    """

    seed: int
    sources: dict[str, Used] = {}
    unused: dict[str, Begun] = {}
    units: dict[str, Used] = {}
    ordered: bool = False

    @property
    def used(self) -> dict[str, Used]:
        """How each source or unit is used."""
        return self.units or self.sources

    @property
    def ends(self) -> dict[str, Begun]:
        """How each source is used by this dataset and those before together."""
        return self.unused | {source: use.end for source, use in self.used.items()}


def times_of(hashes: NDArray[np.uint64], use: Used) -> NDArray[np.int64]:
    """Returns how often documents of a source are used, (n,) like their hashes."""
    times = use.copies + once_more(hashes, use.threshold, use.others).astype(np.int64)
    if (begun := use.begun) is not None:
        times -= begun.copies + once_more(hashes, begun.threshold, begun.others)
    return times


def once_more(hashes: NDArray[np.uint64], threshold: int, others: Sequence[int]) -> NDArray[np.bool_]:
    """Returns which documents are used once more than the rest, (n,) like their hashes."""
    found: NDArray[np.bool_] = (hashes < np.uint64(threshold)) | np.isin(hashes, np.array(others, np.uint64))
    return found
