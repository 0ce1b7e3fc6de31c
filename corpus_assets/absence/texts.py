"""The documents that lists name, and their texts, read from the raw files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from corpus_assets import dataset_names
from corpus_assets.absence.result import Absence
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.normalize.reading import documents_of, normalizer_of
from corpus_assets.raw.assets import examples_of
from corpus_assets.takedown.keys import keys_of
from corpus_assets.takedown.lists import Entry
from resources.errors import BadFileError, DamagedFileError, StorageError
from resources.formats.documents import Document
from resources.formats.examples import Example, example_texts
from resources.planning.planner import Planner
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.stage.task import Given, Task

_URL_KEYS = ("url", "warc_url")


@dataclass(frozen=True)
class Names:
    """Tells which documents lists name. named: the entries by key. url_keys: keys of the metadata that hold URLs."""

    named: Mapping[bytes, Entry]
    url_keys: tuple[str, ...]

    @classmethod
    def of(cls, corpus: Corpus, named: Mapping[bytes, Entry]) -> "Names":
        """Returns the names of entries; URLs are compared under the usual and the configured keys."""
        remove = corpus.settings.values["remove"]
        return cls(named, tuple(dict.fromkeys((*_URL_KEYS, *(remove["url_keys"] if remove else ())))))

    def entry(self, document: Document, texts: Sequence[str]) -> Entry | None:
        """Returns the entry that names a document; None if there is none. texts: as `keys_of` takes them."""
        return next((self.named[key] for key in keys_of(document, texts, self.url_keys) if key in self.named), None)

    def entry_of_example(self, example: Example) -> Entry | None:
        """Returns the entry that names an example; None if there is none."""
        document = Document(example.id, example.text or "", example.source, metadata=example.metadata)
        return self.entry(document, [example.text] if example.text else [])


class NamedText(NamedTuple):
    """A text of a document that a list names; `where`: list and line."""

    id: str
    where: str
    text: str


def named_texts(corpus: Corpus, planner: Planner, names: Names, result: Absence) -> Iterator[NamedText]:
    """Yields the normalized texts of the named documents in all raw files.

    A raw file that cannot be read is added to the result as unproven.
    """
    sources, inputs = corpus.settings.sources(), [files["name"] for files in corpus.settings.inputs()]
    for shard in planner.listing.shards:
        if shard.source not in (*sources, *inputs):
            continue
        own = shard.source in inputs
        if own and dataset_names.examples(shard.source) not in corpus.graph.stages:
            result.unproven.append(f"raw file {shard.label}: it holds ids, and no names or texts to look for")
            continue
        asset = dataset_names.examples(shard.source) if own else "normalized_documents"
        parameters = planner.parameters(corpus.graph[asset], shard.key)
        raw = dataset_names.raw_source(shard.source) if own else "raw_source"
        record = planner.records(raw).get(shard.key)
        is_recorded = record is not None and shard.is_as(record.seen)
        given = {raw: Partitions([Partition(corpus.storage, record, shard)] if record and is_recorded else ())}
        task = Task(Given(asset, shard.key, corpus.storage, given, (shard,), parameters))
        try:
            yield from _texts_of_examples(task, names) if own else _texts_of_documents(task, names)
            task.require_read_right()
        except (BadFileError, StorageError, DamagedFileError) as error:
            result.unproven.append(f"raw file {shard.label}: its texts could not be looked for in token files: {error}")
        finally:
            task.close()


def _texts_of_documents(task: Task, names: Names) -> Iterator[NamedText]:
    fix = normalizer_of(task.parameters)
    for document in documents_of(task):
        text = fix(document.text)
        if entry := names.entry(document, [document.text, text]):
            yield NamedText(document.id, entry.where, text)


def _texts_of_examples(task: Task, names: Names) -> Iterator[NamedText]:
    for example in examples_of(task):
        if entry := names.entry_of_example(example):
            yield from (NamedText(example.id, entry.where, text) for text in example_texts(example))
