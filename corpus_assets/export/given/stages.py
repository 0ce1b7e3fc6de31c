"""The stages of a dataset that reads files of ids: their content versions, and its token stream."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from typing_extensions import override

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.token_files import TokenFiles
from corpus_assets.export.datasets import ExportedDataset, Settings
from corpus_assets.export.given.stream import WITHOUT_SEPARATOR, separator_of, stream_of_files
from corpus_assets.raw.assets import with_content_versions
from corpus_assets.raw.bad_rows import dropped_notes
from corpus_assets.raw.losses import dataset_losses, listed_dataset_losses
from corpus_assets.token_files.documents import REASONS
from corpus_assets.tokenize import tokenizer
from corpus_assets.tokenize.datasets import tokenizer_section
from resources.shards.listing import Listing
from resources.stage.declaration import Partitioning, Stage, same
from resources.stage.hooks import Hooks, Records
from resources.stage.partition import Partition

CODE_VERSION = "1"
_NO_CONTENT = {
    *("location", "s3", "glob", "licence", "max_bad_rows", "may_be_empty", "follow_links", "hidden", "sample"),
}


@dataclass(frozen=True)
class TokenFilesHooks(Hooks):
    """What a build asks of the stream of a dataset's files of ids."""

    dataset: ExportedDataset

    @override
    def derived_parameters(self, settings: Settings) -> Settings:
        given, place = self._input(settings), f"datasets.{self.dataset.name}.input"
        options = {key: value for key, value in given.items() if key not in _NO_CONTENT}
        sample = {f"sample.{key}": value for key, value in given.get("sample", {}).items()}
        return {f"{place}.{key}": value for key, value in (options | sample).items()}

    @override
    def check_before(self, settings: Settings) -> None:
        own = self.dataset.name if self.dataset.values["tokenizer"] else None
        loaded = tokenizer.check_tokenizer(*tokenizer_section(settings, own))
        if loaded is not None:
            section = TokenFiles.model_construct(None, **self._input(settings))
            separator_of(f"datasets.{self.dataset.name}.input", section, loaded)

    @override
    def gate_all(self, records: Records, settings: Settings, listing: Listing) -> Sequence[str]:
        return dataset_losses(records, settings, listing, self.dataset.name)

    @override
    def gate_listing(self, settings: Settings, listing: Listing) -> Sequence[str]:
        return listed_dataset_losses(settings, listing, self.dataset.name)

    @override
    def notes(self, partitions: Sequence[Partition], settings: Settings) -> Iterator[str]:
        yield from dropped_notes(partitions, settings, what="dataset")
        section = TokenFiles.model_construct(None, **self._input(settings))
        found = [partition.record.statistics for partition in partitions]
        without, documents = (sum(one.get(key, 0) for one in found) for key in (WITHOUT_SEPARATOR, "rows_out"))
        if without and not section.by_separator:
            yield (
                f"dataset {self.dataset.name}: {without:,} of {documents:,} documents have no separator "
                f"{section.side} them (`input.separator: none` says that there is none)"
            )

    def _input(self, settings: Settings) -> Mapping[str, Any]:
        (entry,) = (entry for entry in settings["datasets"] if entry["name"] == self.dataset.name)
        return dict(entry["input"])


def stages_of_files(dataset: ExportedDataset) -> Iterator[Stage]:
    """Yields the content versions of a dataset's files of ids, and the token stream that is made of them."""
    stream = Stage(
        name=names.token_stream(dataset.stream),
        group=names.group(dataset.name),
        description=f"Ids of the documents in one file of dataset {dataset.name}, and where each comes from.",
        partitioning=Partitioning.SHARD,
        compute=partial(stream_of_files, dataset=dataset),
        code_version=CODE_VERSION,
        io="arrays",
        inputs=(same(dataset.tokenizer),),
        hooks=TokenFilesHooks(dataset),
        shard_set=dataset.shard_set,
        unit_in="documents",
        unit_out="documents",
        reasons=REASONS,
        columns={
            "ids": "uint[n]: token ids of one document, without separators",
            "source": "string: the dataset",
            "id": "string: path of the file and number of the document in it",
            "shard": "string: the partition",
            "row": "int: its row there",
        },
        kinds=("numpy",),
    )
    yield from with_content_versions(stream, f"dataset {dataset.name}")
