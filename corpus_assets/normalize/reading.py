"""Reads the documents of one raw file as its source is configured."""

from collections.abc import Iterator
from functools import partial

from corpus_assets.raw.bad_rows import Gaps, good_rows
from corpus_assets.raw.format_options import format_options, format_parameters
from corpus_assets.raw.readers import Limits, RawFile, RowRules, read_documents
from corpus_assets.raw.sampling import Chosen, sampled
from resources.formats.documents import Document
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

source_parameters = partial(format_parameters, prefix="source")
"""Further parameters of such a stage: options of formats, where a source gives them; the sample, in one."""


def _text_bytes(document: Document) -> int:
    return len(document.text.encode("utf-8", "surrogatepass"))


def documents_of(task: Task, gaps: Gaps | None = None) -> Iterator[Document]:
    """Yields the documents of the task's raw file, with their texts as they were given; counts the bad rows.

    gaps: notes which rows these are.
    """
    shard = task.shard
    rules = RowRules(
        source=shard.source,
        format=task["source.format"],
        text_key=task["source.text_key"],
        id_key=task["source.id_key"],
        ids=task["source.ids"],
        metadata_key=task["source.metadata_key"],
        options=format_options(task.parameters, "source"),
        lone_surrogates="keep" if task["normalize.method"] == "ftfy" else "refuse",
    )
    limits = Limits(line_bytes=task["source.longest_row"])
    rows = read_documents(RawFile(shard.path, shard.open, shard.open_member), rules, limits)
    chosen = sampled(rows, task, Chosen.of(task.parameters, "source"), _text_bytes)
    return good_rows(task, chosen, task["source.on_bad_row"], gaps)
