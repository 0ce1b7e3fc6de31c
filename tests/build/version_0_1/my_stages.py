"""Stages of a user's own, written for the first version: its module names, fields and asset names."""

from resources.attributes import attribute_line
from resources.graph import Partitioning, Stage, every, same, segment
from resources.task import Task


def shouting(task: Task) -> None:
    """Mark documents written mostly in capitals."""
    with task.lines(f"attributes/shouting/{task.shard.source}/{task.shard.name}.jsonl.gz") as out:
        for document in task.input("normalized_documents").documents():
            share = sum(char.isupper() for char in document.text) / max(1, len(document.text))
            spans = {"shouting__capitals__share": [(0, len(document.text), round(share, 5))]}
            out.write(attribute_line(document.id, document.source, spans))


def lengths(task: Task) -> None:
    """Sum what the token files of two datasets and one segment of pass 1 hold."""
    rows = sum(part.record.files[0].rows or 0 for part in task.inputs("tokens/validation"))
    task.save_json(
        "own/lengths.json", {"rows": rows, "vocabulary": len(task.input("tokenizers/questions").record.files)}, rows=1
    )


def heads(task: Task) -> None:
    """Count a chunk's rows in pass 1."""
    rows = sum(part.segments()[task.key].rows for part in task.inputs("mixed_pass1"))
    task.save_json(f"heads/{task.key}.json", {"rows": rows}, rows=1)


STAGES = [
    Stage(
        name="shouting",
        group="attributes",
        description="Share of capital letters of every document.",
        partitioning=Partitioning.SHARD,
        compute=shouting,
        code_version="1",
        kind="documents",
        inputs=(same("normalized_documents", part="texts"),),
        tools=("jsonl",),
    ),
    Stage(
        name="lengths",
        group="own",
        description="Rows of a dataset.",
        partitioning=Partitioning.NONE,
        compute=lengths,
        code_version="1",
        kind="records",
        inputs=(every("tokens/validation"), same("tokenizers/questions")),
        extra_parameters=lambda settings: {"chunks": settings["mix"]["chunks"]},
    ),
    Stage(
        name="heads",
        group="own",
        description="Rows of a chunk in pass 1.",
        partitioning=Partitioning.CHUNK,
        compute=heads,
        code_version="1",
        kind="records",
        inputs=(segment("mixed_pass1"),),
    ),
]
