"""Reads the documents of one raw file according to its source's configuration."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from typing_extensions import override

from corpus_assets.config.file_formats import BLANK_LINE
from corpus_assets.config.text_fixes import TextFixes
from corpus_assets.normalize.text import normalizer
from corpus_assets.raw.bad_rows import Gaps, good_rows
from corpus_assets.raw.format_options import format_options, format_parameters
from corpus_assets.raw.readers import Limits, RawFile, RowRules, read_documents
from corpus_assets.raw.reasons import document_reasons
from corpus_assets.raw.rows.faults import BadRow
from corpus_assets.raw.rows.seen import Seen, of_source
from corpus_assets.raw.sampling import Chosen, sampled
from resources.formats.documents import Document
from resources.shards.listing import Shard
from resources.shards.reading import RawReading
from resources.stage.hooks import Hooks, Values
from resources.stage.task import Task

READING = (
    "normalize.method",
    "source.format",
    "source.text_key",
    "source.id_key",
    "source.ids",
    "source.metadata_key",
    "source.on_bad_row",
    "source.on_bad_file",
    "source.longest_row",
)
"""Parameters of a stage that reads documents."""

_TEXTS = "normalize.texts"
_FIXES = "normalize.ftfy."


class DocumentHooks(Hooks):
    """The hooks of a stage that reads documents."""

    @override
    def source_parameters(self, source: Values) -> Values:
        """Returns the format options that a source sets; in a sample, also its share."""
        return format_parameters(source, prefix="source")

    @override
    def derived_parameters(self, settings: Values) -> Values:
        """Returns options for reading texts and fixes of ftfy that differ from the defaults.

        Defaults are left out so that records from before there was a choice stay fresh.
        """
        texts, fixes = settings["normalize"]["texts"], TextFixes.model_validate(settings["normalize"]["ftfy"] or {})
        chosen = {f"{_FIXES}{key}": value for key, value in fixes.unlike_default().items()}
        return chosen if texts == "strings" else {_TEXTS: texts, **chosen}

    @override
    def reasons(self, settings: Values) -> Sequence[str]:
        return document_reasons(settings)


def normalizer_of(parameters: Mapping[str, Any]) -> Callable[[str], str]:
    """Returns the function that normalizes a text. parameters: values of `READING` and of `DocumentHooks`."""
    fixes = {key.removeprefix(_FIXES): value for key, value in parameters.items() if key.startswith(_FIXES)}
    return normalizer(parameters["normalize.method"], fixes)


def _text_bytes(document: Document) -> int:
    return len(document.text.encode("utf-8", "surrogatepass"))


def documents_of(task: Task, gaps: Gaps | None = None) -> Iterator[Document]:
    """Yields the documents of the task's raw file, with their texts as they were given; counts the bad rows.

    gaps: notes which rows these are.
    """
    chosen = Chosen.of(task.parameters, "source")
    seen, counts = of_source(task.shard.source, task.parameters), Counter[str]()
    rows = sampled(all_rows(task.shard, task.parameters, seen, task.raw, counts), task, chosen, _text_bytes)
    yield from good_rows(task, rows, task["source.on_bad_row"], gaps)
    task.count(**seen.numbers(), **counts)


def all_rows(
    shard: Shard,
    parameters: Mapping[str, Any],
    seen: Seen | None = None,
    opened: RawReading | None = None,
    counts: Counter[str] | None = None,
) -> Iterator[Document | BadRow]:
    """Yields for each row of a raw file a document with its text as given, or the reason why there is none.

    parameters: values of `READING`, `source_parameters` and `text_parameters`.
    seen: counts the keys of rows.
    opened: notices faulty readings.
    counts: gets numbers about the rows.
    """
    bytes_of = opened or shard
    text_key, kept = parameters["source.text_key"], parameters.get("source.metadata_keys")
    rules = RowRules(
        source=shard.source,
        format=parameters["source.format"],
        text_key=text_key if isinstance(text_key, str) else tuple(text_key),
        id_key=parameters["source.id_key"],
        ids=parameters["source.ids"],
        metadata_key=parameters["source.metadata_key"],
        metadata_keys=None if kept is None else tuple(kept),
        separator=parameters.get("source.text_separator", BLANK_LINE),
        options=format_options(parameters, "source"),
        lone_surrogates="keep" if parameters["normalize.method"] == "ftfy" else "refuse",
        loose_texts=_TEXTS in parameters,
        seen=seen or Seen({}),
    )
    limits = Limits(line_bytes=parameters["source.longest_row"])
    file = RawFile(shard.path, bytes_of.open, bytes_of.open_member, Counter() if counts is None else counts)
    return iter(read_documents(file, rules, limits))
