"""What became of each document of a shard: kept, or dropped, and for which reason."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.filter.assets import FILTERED
from corpus_assets.filter.filtered_documents import CHANGES, Change
from corpus_assets.mix.kept import REASONS
from corpus_assets.mix.repeat import NOT_USED, copies
from corpus_assets.tracing.kept_rows import left_out_by
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.tables import IDS, TEXTS, count_of
from corpus_assets.viewer.listing.recent import Recent
from resources.formats.row_tables import identifiers
from resources.hashing import keyed_hash
from resources.stage.partition import Partition

KEPT, UNKNOWN = "kept", "not known"
_CHANGE = msgspec.json.Decoder(Change)
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Fates:
    """The fates of the documents of a shard.

    names: every fate that occurs. codes: (documents,) the number of each document's fate in `names`.
    after: (documents,) its row among those that the filter kept; -1 if it is none of them.
    """

    names: list[str]
    codes: NDArray[np.int16]
    after: NDArray[np.int32]

    @property
    def bytes(self) -> int:
        """Memory that they take."""
        return self.codes.nbytes + self.after.nbytes

    def chosen(self, fate: str, first: int, end: int) -> NDArray[np.bool_]:
        """Returns which rows from `first` to `end` have a fate."""
        wanted = [number for number, name in enumerate(self.names) if name == fate]
        return np.isin(self.codes[first:end], wanted)


FATES: Recent[Fates] = Recent(_MOST_BYTES, lambda one: one.bytes)


def fates_of(look: Look, documents: Partition) -> Fates:
    """Returns the fates of the documents of a shard, as the stored partitions have them."""
    key = documents.key or ""
    asked = [FILTERED, *left_out_by(look, key), "mixed_pass1"]
    made = [look.partition(asset, key) for asset in asked]
    name = (documents.record.digest, *((one.record.asset, one.record.recipe) if one else None for one in made))
    return FATES.get(name, lambda: _Fates(documents).found(look))


class _Fates:
    def __init__(self, documents: Partition) -> None:
        self._documents, self._key = documents, documents.key or ""
        self._rows = count_of(documents)
        self._names = [KEPT]
        self._codes = np.zeros(self._rows, np.int16)

    def found(self, look: Look) -> Fates:
        kept = self._by_filter(look)
        after = np.full(self._rows, -1, np.int32)
        after[kept] = np.arange(len(kept))
        for asset in left_out_by(look, self._key):
            flags = _flags(look, asset, self._key)
            if flags is None or len(flags) != len(kept):
                self._mark(kept[self._codes[kept] == 0], UNKNOWN)
                break
            flagged = kept[flags]
            self._mark(flagged[self._codes[flagged] == 0], REASONS.get(asset, asset))
        self._by_epochs(look, kept)
        return Fates(self._names, self._codes, after)

    def _mark(self, rows: NDArray[np.int64], name: str) -> None:
        if len(rows):
            if name not in self._names:
                self._names.append(name)
            self._codes[rows] = self._names.index(name)

    def _by_filter(self, look: Look) -> NDArray[np.int64]:
        """Marks what the filter dropped, and returns the rows that it kept."""
        everything = np.arange(self._rows)
        if not look.has(FILTERED):
            return everything
        made = look.partition(FILTERED, self._key)
        dropped: dict[str, list[int]] = {}
        if made is not None and made.has(CHANGES):
            for line in made.lines(CHANGES):
                change = _CHANGE.decode(line)
                if change.dropped is not None and change.row < self._rows:
                    dropped.setdefault(change.dropped, []).append(change.row)
        gone = sum(map(len, dropped.values()))
        if made is None or self._rows - gone != count_of(made):
            self._mark(everything, UNKNOWN)
            return everything[:0]
        for rule, rows in dropped.items():
            self._mark(np.array(rows, np.int64), rule)
        return np.flatnonzero(self._codes == 0)

    def _by_epochs(self, look: Look, kept: NDArray[np.int64]) -> None:
        """Marks what a source with fewer epochs than one leaves out; nothing if the mix is not built."""
        mixed = look.partition("mixed_pass1", self._key)
        if mixed is None:
            return
        if "mix.copies" in mixed.record.parameters:
            source, parameters = self._key.partition("--")[0], mixed.record.parameters
            orders = set(mixed.array(".rows.npy")["order"].tolist())
            if "mix.order" in parameters:
                orders = {order & 0xFFFFFFFF for order in orders}
            hashes = (keyed_hash("order", parameters["mix.seed"], source, one, 0) for one in self._ids())
            shift = 32 if "mix.order" in parameters else 0
            used = np.array([hash_ >> shift in orders for hash_ in hashes], np.bool_)
            self._mark(kept[(self._codes[kept] == 0) & ~used[kept]], NOT_USED)
            return
        if mixed.record.parameters["source.epochs"] >= 1:
            return
        parameters = mixed.record.parameters
        source, seed, epochs = self._key.partition("--")[0], parameters["mix.seed"], parameters["source.epochs"]
        used = np.array([copies(epochs, seed, source, one) > 0 for one in self._ids()], np.bool_)
        self._mark(kept[(self._codes[kept] == 0) & ~used[kept]], NOT_USED)

    def _ids(self) -> Iterator[str]:
        return identifiers(self._documents.array(TEXTS)["id_end"], self._documents.array(IDS))


def _flags(look: Look, asset: str, key: str) -> NDArray[np.bool_] | None:
    made = look.partition(asset, key)
    return None if made is None else np.fromiter(made.flags(), np.bool_)
