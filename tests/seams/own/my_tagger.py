"""A tagger of one's own: flags documents that ask much."""

from resources import Partitioning, Stage, Task, same


def questions(task: Task) -> None:
    """Flag documents with more question marks than the configuration allows."""
    with task.attributes("questions") as rows:
        for document in task.input("normalized_documents").documents():
            marks = [(place, place + 1, 1.0) for place, char in enumerate(document.text) if char == "?"]
            rows.add(document, {"questions__marks__mark": marks}, flagged=len(marks) > task["own.questions.most"])
    task.count(rows_in=rows.rows, rows_out=rows.rows)


STAGES = [
    Stage(
        name="questions",
        group="own",
        description="Question marks of every document.",
        partitioning=Partitioning.SHARD,
        compute=questions,
        code_version="1",
        io="documents",
        inputs=(same("normalized_documents"),),
        parameters=("own.questions.most",),
        columns={"id": "string", "attributes": "json", "source": "string"},
    )
]
