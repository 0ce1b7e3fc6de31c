"""Hooks of the stages of splitting: the holdout of each source, gates and notes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from typing_extensions import override

from corpus_assets.split.losses import empty_notes, holdout_losses, split_losses
from resources.shards.listing import Listing
from resources.stage.hooks import Hooks, Records, Values
from resources.stage.partition import Partition


class SelectionHooks(Hooks):
    """Hooks of the thresholds: the holdout of each source, None without its own; it must not be the whole source."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {"holdout by source": {source["name"]: source["holdout"] for source in settings["sources"]}}

    @override
    def gate_all(self, records: Records, settings: Values, listing: Listing) -> Sequence[str]:
        return holdout_losses(records, settings, listing)


@dataclass(frozen=True)
class TrainHooks(Hooks):
    """Hooks of a split to train on, which must not be empty."""

    split: str

    @override
    def gate_all(self, records: Records, settings: Values, listing: Listing) -> Sequence[str]:
        return split_losses(records, settings, listing, self.split)


@dataclass(frozen=True)
class HeldOutHooks(Hooks):
    """Hooks of a held-out split."""

    split: str

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        return empty_notes(partitions, settings, self.split)
