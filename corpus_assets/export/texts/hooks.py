"""What a build asks of the stages of datasets of texts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from typing_extensions import override

from corpus_assets.export.texts.datasets import TextDataset
from corpus_assets.export.texts.writing import UNREAD
from corpus_assets.tokenize.counts.losses import conversation_losses
from resources.documents.looked_for import absent_notes
from resources.shards.listing import Listing
from resources.stage.hooks import Hooks, Records, Values
from resources.stage.partition import Partition

_MOST_NAMED = 10


@dataclass(frozen=True)
class TextHooks(Hooks):
    """What a build asks of every stage of a dataset of texts."""

    dataset: TextDataset

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {f"datasets.{self.dataset.name}.{key}": value for key, value in self.dataset.parameters.items()}


class TextFilesHooks(TextHooks):
    """What it asks of the files."""

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        own = self.dataset.shard_set
        yield from absent_notes(partitions, "dataset" if own else None)
        unread = Counter[str]()
        for partition in partitions:
            unread.update(partition.record.statistics.get(UNREAD, {}))
        if unread:
            shown = ", ".join(f"{key!r} {count:,}" for key, count in unread.most_common(_MOST_NAMED))
            more = " ..." if len(unread) > _MOST_NAMED else ""
            yield f"dataset {self.dataset.name}: keys of its rows that no column holds: {shown}{more}"


class OwnTextFilesHooks(TextFilesHooks):
    """What it asks of the files of a dataset that reads files of its own."""

    @override
    def gate_all(self, records: Records, settings: Values, listing: Listing) -> Sequence[str]:
        return conversation_losses(records, settings, listing, self.dataset.name)
