"""Stages of attributes: one per entry of `attributes`, whose taggers run together over every document of a shard."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import msgspec
from typing_extensions import override

from corpus_assets import dataset_names as names
from corpus_assets.attributes.batches import tagged, unlabelled
from corpus_assets.attributes.compiled import of_taggers
from corpus_assets.attributes.entries import Entry, files_of, require_options
from corpus_assets.attributes.registry import AnyTagger, named_tagger
from corpus_assets.attributes.splitters.entry_words import LabelReader, Words, words_of
from corpus_assets.attributes.wheels import wheel_version
from resources.documents.batch_tagger import BatchTagger
from resources.documents.looked_for import LookedFor, absent_names, numbers_of
from resources.documents.score_histograms import ScoreHistograms
from resources.documents.tagger import Tagger
from resources.endpoint.client import require_key
from resources.formats.documents import Document
from resources.outside_files import outside_digest
from resources.stage.declaration import Partitioning, Stage, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition
from resources.stage.task import Task

UNANSWERED: Final = "unanswered"
"""Statistic: documents for which an endpoint had no usable answer, by tagger and reason."""

UNLABELLED: Final = "unlabelled"
"""Statistic: documents to which the tagger that `words.by` names gave no label."""

ATTRIBUTE_COLUMNS = {
    "id": "string: of the document in the same row",
    "attributes": "json: name of each attribute to its spans, [start, end, value] in code points",
    "source": "string: of the document",
}


def names_of_metadata(document: Document) -> list[str]:
    """Returns the keys of a document's metadata that are not null, as `metadata.KEY`."""
    raw = bytes(document.metadata)
    return [f"metadata.{key}" for key, value in _FIELDS.decode(raw).items() if bytes(value) != b"null"] if raw else []


_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def attributes(task: Task, entry: Entry) -> None:
    """Runs taggers over a shard's documents; writes one row of attributes for each."""
    functions = entry.functions(task.run_options, task.parameters, task.input)
    together = entry.together(task.run_options, task.parameters)
    looked_for = LookedFor("documents", entry.reads)
    scores = ScoreHistograms()
    documents = task.input("normalized_documents")
    labels = None
    if entry.words and entry.words.labels:
        of = entry.words.labels
        labels = LabelReader(task.input(of.asset), of, len(documents.array(".texts.npy")))
    with task.attributes(entry.name) as out:
        for document, found in tagged(
            documents.documents(), functions, together, task.shard.label, labels or unlabelled
        ):
            out.add(document, found)
            scores.add(found)
            if looked_for.wants_any:
                looked_for.add(names_of_metadata(document))
    task.count(histograms=scores.histograms(), rows_in=out.rows, rows_out=out.rows, spans=scores.spans)
    task.count(**numbers_of(looked_for))
    if scores.uncounted:
        task.count(scores_without_histogram=scores.uncounted)
    if labels:
        task.count(**{UNLABELLED: labels.unlabelled})
    if unread := {named.name: named.unread_lines for named in functions if named.unread_lines}:
        task.count(unread_lines_of_lists=unread)
    if unanswered := {one.name: one.unanswered for one in together if one.unanswered}:
        task.count(**{UNANSWERED: unanswered})


def asset_name(entry: str) -> str:
    """Returns the asset of an entry of `attributes`."""
    return names.attributes(entry)


def attribute_stages(entries: Iterable[Mapping[str, Any]], known: Mapping[str, AnyTagger]) -> Iterator[Stage]:
    """Yields the stage of each entry that has taggers. known: all taggers by name."""
    entries = list(entries)
    for place, values in enumerate(entries):
        if "taggers" not in values:
            continue
        names, key = sorted(values["taggers"]), f"attributes.{place}"
        entry = Entry(
            values["name"],
            key,
            tuple(named_tagger(name, known, f"{key}.taggers") for name in names),
            values["compat"],
            words_of(values, key, entries, known),
        )
        require_options(entry, values["options"])
        yield _stage(entry)


@dataclass(frozen=True)
class EntryHooks(Hooks):
    """The hooks of the stage of an entry."""

    entry: Entry

    @override
    def derived_parameters(self, settings: Values) -> Values:
        """Returns the parameters of rows: versions of taggers and libraries, digests of files, and `compat`.

        `ConfigError` names a library that is not installed, or a file that cannot be read.
        """
        entry, key, options = self.entry, f"attributes.{self.entry.name}", self.run_options(settings)
        found: dict[str, Any] = {
            f"{key}.taggers.{tagger.name}": tagger.version_of(entry.compat)
            if isinstance(tagger, Tagger)
            else tagger.version
            for tagger in entry.taggers
        }
        for tagger in entry.taggers:
            what, given = f"{entry.place}.taggers: {tagger.name}", options.get(tagger.name, {})
            found |= {f"{key}.wheels.{wheel}": wheel_version(wheel, tagger.extra, what) for wheel in tagger.wheels}
            for option, paths in files_of(given).items():
                found[entry.recipe_key(tagger, option)] = outside_digest(entry.option_key(tagger, option), paths)
            if isinstance(tagger, BatchTagger):
                found |= entry.settings_of(tagger, given)
        if entry.words:
            found |= entry.words.parameters(key)
        return {**found, f"{key}.compat": entry.compat}

    @override
    def check_before(self, settings: Values) -> None:
        for name, given in self.run_options(settings).items():
            variable = (given.get("endpoint") or {}).get("key_variable")
            require_key(variable, f"{self.entry.place}.options.{name}.endpoint.key_variable")

    @override
    def run_options(self, settings: Values) -> Values:
        """Returns the options of its taggers, by tagger: paths of files, and values of taggers in batches."""
        (values,) = (values for values in settings["attributes"] if values["name"] == self.entry.name)
        options: Values = values["options"]
        return options

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        taggers = self.entry.taggers
        own = (kernel for tagger in taggers if isinstance(tagger, Tagger) for kernel in tagger.kernels)
        return (*of_taggers((tagger.name for tagger in taggers), self.entry.compat), *own)

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        yield from absent_names(partitions, settings)
        yield from _unanswered(partitions, self.entry.name)
        if self.entry.words and self.entry.words.labels:
            yield from _unlabelled(partitions, self.entry.words)


def _unanswered(partitions: Sequence[Partition], entry: str) -> Iterator[str]:
    """Yields a sentence for each tagger whose endpoint gave some documents no score."""
    found: dict[str, Counter[str]] = {}
    for partition in partitions:
        for name, reasons in partition.record.statistics.get(UNANSWERED, {}).items():
            found.setdefault(name, Counter()).update(reasons)
    for name, counts in found.items():
        words = ", ".join(f"{reason} {count:,}" for reason, count in sorted(counts.items()))
        yield f"attributes of {entry}: {name} has no score for {counts.total():,} documents: {words}"


def _unlabelled(partitions: Sequence[Partition], words: Words) -> Iterator[str]:
    """Yields a sentence if documents have no label, so that their words are not those of a language."""
    statistics = [partition.record.statistics for partition in partitions]
    without = sum(found.get(UNLABELLED, 0) for found in statistics)
    if without:
        documents = sum(found.get("rows_out", 0) for found in statistics)
        yield (
            f"{words.place}.by: {words.given['by']} gave {without:,} of {documents:,} documents no label; their words "
            "are split at spaces"
        )


def _stage(entry: Entry) -> Stage:
    return Stage(
        name=asset_name(entry.name),
        group="attributes",
        unit_in="documents",
        unit_out="documents",
        description=f"Attributes of every document: {', '.join(tagger.name for tagger in entry.taggers)}.",
        partitioning=Partitioning.SHARD,
        compute=partial(attributes, entry=entry),
        code_version="1",
        io="documents",
        inputs=(same("normalized_documents"), *map(same, entry.assets)),
        hooks=EntryHooks(entry),
        columns=ATTRIBUTE_COLUMNS,
        kinds=("jsonl", "dolma"),
    )
