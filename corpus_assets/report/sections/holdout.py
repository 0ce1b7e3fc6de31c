"""Held-out documents, and benchmark items in the corpus."""

from typing import Any

from corpus_assets.report.model import Benchmark, Model
from corpus_assets.report.sections.blocks import Block, Heading, Note, Section, Table, Texts
from corpus_assets.report.sections.flow import words


def holdout(model: Model) -> Section:
    """Returns the splits' sizes, what decontamination removed, and the benchmarks."""
    section = Section("holdout", "Holdout and decontamination")
    if model.splits:
        rows = [[words(split.name), split.documents, split.text_bytes] for split in model.splits]
        columns = [("split", "text"), ("documents", "count"), ("text", "size")]
        section.blocks += [Table("Splits", columns, rows), _removed(model)]
    section.blocks += _benchmarks(model)
    return section


def _removed(model: Model) -> Note:
    found = {loss.reason: loss.documents for step in model.steps for loss in step.losses}
    held, equal = found.get("held_out", 0), found.get("text_in_holdout", 0)
    return Note(
        f"{held:,} uses of documents were taken out of train because they are held out, each once in the holdout; "
        f"{equal:,} more because their text is held out in another document."
    )


def _benchmarks(model: Model) -> list[Block]:
    blocks: list[Block] = [Heading("Benchmarks in the corpus")]
    if not model.benchmarks:
        return [*blocks, Note("No benchmarks are configured, so nothing was looked for.")]
    keys = list(dict.fromkeys(key for one in model.benchmarks for key in one.numbers))
    rows = [[one.name, *(one.numbers.get(key) for key in keys)] for one in model.benchmarks]
    columns = [("benchmark", "text"), *((words(key), "count") for key in keys)]
    note = (
        "Items are touched if a document has a piece of one, held if the piece reaches the configured share of the "
        "item, whole if all of it is there. This is what was found before any rule took it out."
    )
    blocks += [Note(note), Table("Items found in documents", columns, rows)]
    for one in model.benchmarks:
        blocks += _worst(one)
    return blocks


def _worst(one: Benchmark) -> list[Block]:
    if not one.worst:
        return []
    rows: list[list[Any]] = [
        [document["source"], document["id"], document["items"], document["held"], document["share"]]
        for document in one.worst
    ]
    columns = [("source", "text"), ("document", "long"), ("items", "count"), ("held", "count")]
    title = f"Documents with most items of {one.name}"
    return [Table(title, [*columns, ("largest share", "share")], rows), Texts(one.texts)]
