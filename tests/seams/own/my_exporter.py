"""An exporter of one's own: the input ids of token rows as one flat binary file."""

from resources import Partitioning, Stage, Task, read_hdf5, same


def flat(task: Task) -> None:
    """Write the input ids of a token file one after another, two bytes each."""
    tokens = task.input("validation_tokens")
    if not tokens.has(".h5"):  # A partition without rows has no file.
        return
    with tokens.open(".h5") as raw, read_hdf5(raw, tokens.name) as rows, task.binary(f"flat/{task.key}.bin") as out:
        for block in rows.blocks():
            out.write(block[:, 0].astype("<u2").tobytes(), rows=len(block))
    task.count(rows_in=rows.n, rows_out=out.written.rows)


STAGES = [
    Stage(
        name="validation_flat",
        group="export",
        description="Input ids of the validation rows, flat.",
        partitioning=Partitioning.CHUNK,
        compute=flat,
        code_version="1",
        io="records",
        inputs=(same("validation_tokens"),),
    )
]
