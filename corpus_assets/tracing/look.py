"""The stored partitions of a corpus and their states, for tracing."""

from functools import cached_property

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.opened import Records
from corpus_assets.filter.assets import FILTERED, READ
from corpus_assets.tracing.origins import Origin, raw_row, read_by
from resources.errors import NotBuiltError
from resources.ledger.records import Record, partition_name
from resources.planning.planner import Planner, Status
from resources.stage.graph import did_you_mean
from resources.stage.partition import Partition


class Look:
    """One look at a corpus.

    Records are read once per asset, and states are decided on demand. planner: an existing one; by default a new one.
    compared: False to read files as they are: comparing one with its record reads all of it.
    """

    def __init__(self, corpus: Corpus, planner: Planner | None = None, *, compared: bool = True) -> None:
        self.corpus = corpus
        self._given = planner
        self._compared = compared

    @cached_property
    def planner(self) -> Planner:
        """The plan of the corpus as it is now."""
        return self._given or self.corpus.planner()

    @property
    def documents(self) -> str:
        """The asset with the documents that everything after the filter reads."""
        return FILTERED if self.has(FILTERED) else READ

    def has(self, asset: str) -> bool:
        """Returns whether the corpus has an asset of that name now."""
        return asset in self.corpus.graph.stages

    def records(self, asset: str) -> Records:
        """Returns the records of an asset, those that the corpus lost included."""
        return self.planner.records(asset) if self.has(asset) else {}

    def partition(self, asset: str, key: str | None) -> Partition | None:
        """Returns a stored partition; None if there is none."""
        record = self.records(asset).get(key)
        return None if record is None else self.handle(record)

    def handle(self, record: Record) -> Partition:
        """Returns the partition of a record."""
        shard = self.planner.shard(record.partition)
        return Partition(self.corpus.storage, record, shard, compared=self._compared)

    def partitions(self, asset: str) -> list[Partition]:
        """Returns the stored partitions of an asset, in canonical order, and then those that the corpus lost."""
        if not self.has(asset):
            return []
        records = self.records(asset)
        present = [key for key in self.planner.partitions(self.corpus.graph[asset]) if key in records]
        gone = sorted(records.keys() - set(present), key=str)
        return [self.handle(records[key]) for key in (*present, *gone)]

    def state(self, asset: str, key: str | None) -> str:
        """Returns in words why a partition is not up to date; empty if it is."""
        decision = self.planner.decisions(self.corpus.graph[asset]).get(key)
        if decision is None:
            return "it is no longer part of the corpus: `corpus clean`"
        if decision.status is Status.FRESH:
            return ""
        return f"{decision.status}: {decision.reason or decision.blocked}"

    def shard(self, asset: str, key: str) -> Partition:
        """Returns the partition of a shard; `NotBuiltError` names those near it if there is none."""
        found = self.partition(asset, key)
        if found is None:
            near = did_you_mean(key, [str(one) for one in self.records(asset)])
            message = f"{partition_name(asset, key)} is not built{near}; run `corpus build`"
            raise NotBuiltError(asset, key, message)
        return found

    def asset_of(self, key: str) -> str:
        """Returns the asset with the documents or examples of a raw file: of a source, or of a dataset's own."""
        shard = self.planner.shard(key)
        source = shard.source if shard else key.partition("--")[0]
        examples = read_by(self.corpus, source)
        return examples if self.has(examples) and source not in self.corpus.settings.sources() else READ

    def holds_ids(self, key: str) -> bool:
        """Returns whether a raw file is one of ids, of whose documents no text can be shown."""
        return self.asset_of(key).endswith("_token_stream")

    def origin(self, source: str, identifier: str, key: str, number: int | None) -> Origin:
        """Returns where a document or example comes from. number: of it in its shard; None if it is not known."""
        shard, made = self.planner.shard(key), self.partition(self.asset_of(key), key)
        row = None if made is None or number is None else raw_row(made, number)
        return Origin(source, identifier, key, shard.full_path if shard else None, row)
