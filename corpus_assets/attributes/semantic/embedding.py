"""The function that embeds texts: of a model that is loaded once per worker, or of the user's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from corpus_assets.attributes.loading import once
from corpus_assets.attributes.semantic.integers import MOST_DIMENSIONS, in_whole_numbers
from corpus_assets.attributes.semantic.models import Embed, Sums, files_of, own_function
from corpus_assets.config.selection.kinds.semantic import is_function
from resources.errors import CorpusError
from resources.outside_files import require_digest


def embedder(model: str, key: str, version: str) -> Embed:
    """Returns the function that embeds texts, loaded once per worker. version: as `model_version` was in the plan."""
    if is_function(model):
        return _Own(model, own_function(model, key))
    files = files_of(model, key)
    require_digest(key, list(files), version)

    def load() -> Embed:
        from corpus_assets.attributes.semantic.static import Static

        return Static.read(files, key)

    return once(("semantic", version), load)


@dataclass(frozen=True)
class _Own:
    """A function of the user's own: texts to rows of numbers, of as many dimensions each time."""

    name: str
    function: Callable[[list[str]], Any]

    def __call__(self, texts: Sequence[str]) -> Sums:
        try:
            rows = np.asarray(self.function(list(texts)), dtype=np.float64)
        except Exception as error:
            raise CorpusError(f"{self.name}: {type(error).__name__}: {error}") from error
        if rows.ndim != 2 or len(rows) != len(texts) or not 0 < rows.shape[1] <= MOST_DIMENSIONS:
            raise CorpusError(
                f"{self.name}: gave numbers of shape {rows.shape} for {len(texts)} texts; valid: a row for each, of 1 "
                f"to {MOST_DIMENSIONS:,} dimensions"
            )
        if bad := np.flatnonzero(~np.isfinite(rows).all(axis=1)).tolist():
            raise BadRowError(self.name, bad[0])
        return in_whole_numbers(rows)


class BadRowError(CorpusError):
    """A function gave numbers that are not finite. place: of the text in its batch."""

    def __init__(self, name: str, place: int) -> None:
        super().__init__(f"{name}: gave numbers that are not finite (NaN or infinite)")
        self.place = place
