"""Stages of splitting: train and holdout of each chunk, validation and test, and train without held-out texts."""

from collections.abc import Iterator, Mapping
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.split.decontaminate import contaminated, unique_digests
from corpus_assets.split.holdout import (
    count_threshold,
    held_out,
    holdout_hash,
    is_validation,
    leading,
    share_threshold,
    smallest,
)
from corpus_assets.split.hooks import HeldOutHooks, SelectionHooks, TrainHooks
from corpus_assets.split.losses import WHOLLY_HELD_OUT
from resources.documents.row_counts import SourcesOfRows, by_power
from resources.formats.documents import DOCUMENT_COLUMNS
from resources.formats.jsonl.compressions import JSONL, compression_of
from resources.formats.jsonl.members import TABLE
from resources.formats.row_tables import RowTable, digests, sources
from resources.stage.declaration import Partitioning, Stage, every, same
from resources.stage.partition import Partition
from resources.stage.shown_rows import show_rows
from resources.stage.task import Task


def holdout_selection(task: Task) -> None:
    """Writes the threshold of each source: documents with a keyed content hash below it are held out."""
    default = task["split.holdout"]
    thresholds = {}
    whole = {}
    for name, own in sorted(task["holdout by source"].items()):
        wanted = default if own is None else own
        if isinstance(wanted, dict):
            count = wanted["count"]
            # One more than are held out, which shows whether anything is left.
            found = smallest(_hashes(task, name), count + 1 if count else 0).tolist()
            thresholds[name] = count_threshold(found, count)
            if 0 < len(found) <= count:
                whole[name] = len(found)
        else:
            thresholds[name] = share_threshold(wanted)
    task.save_json("splits/holdout_selection.json", thresholds, rows=len(thresholds))
    task.count(rows_out=len(thresholds), sources=len(thresholds))
    if whole:
        task.count(**{WHOLLY_HELD_OUT: whole})


def _hashes(task: Task, source: str) -> Iterator[int]:
    for shard in task.inputs("mixed_pass1"):
        if shard.shard is not None and shard.shard.source == source:
            for digest in digests(shard.array(".rows.npy")):
                yield holdout_hash(task["split.seed"], source, digest)


def _held_out(task: Task, rows: RowTable) -> NDArray[np.bool_]:
    if task["split.method"] == "slimpajama":
        return leading(len(rows), task["split.holdout"])
    thresholds = task.input("holdout_selection").json()
    return held_out(sources(rows), digests(rows), task["split.seed"], thresholds)


def train(task: Task) -> None:
    """Writes a chunk without its held-out documents."""
    chunk = task.input("mixed_pass2")
    rows = chunk.array(".rows.npy")
    held = _held_out(task, rows)
    _write_selected(task, "train", chunk, rows, {"held_out": held})


def holdout(task: Task) -> None:
    """Writes the held-out documents of a chunk, each once, even if its source has several epochs."""
    chunk = task.input("mixed_pass2")
    rows = chunk.array(".rows.npy")
    held = _held_out(task, rows)
    first = held if task["split.method"] == "slimpajama" else held & (rows["copy"] == 0)
    _write_selected(task, "holdout", chunk, rows, {"not_held_out": ~held, "repeat_of_held_out": held & ~first})


def validation(task: Task) -> None:
    """Writes the held-out documents of a chunk that are for validation."""
    chunk, rows, chosen = _validation(task)
    _write_selected(task, "validation", chunk, rows, {"test": ~chosen})


def test(task: Task) -> None:
    """Writes the held-out documents of a chunk that are for the final test."""
    chunk, rows, chosen = _validation(task)
    _write_selected(task, "test", chunk, rows, {"validation": chosen})


def _validation(task: Task) -> tuple[Partition, RowTable, NDArray[np.bool_]]:
    chunk = task.input("holdout")
    rows = chunk.array(".rows.npy")
    chosen = is_validation(sources(rows), digests(rows), task["split.seed"], task["split.validation"])
    return chunk, rows, chosen


def holdout_hashes(task: Task) -> None:
    """Writes the distinct SHA-256 digests of all held-out texts, sorted."""
    blocks = (chunk.array(".rows.npy")["digest"] for chunk in task.inputs("holdout"))
    unique = unique_digests(blocks)
    task.save_array("splits/holdout_hashes.npy", unique)
    rows = sum(chunk.record.statistics["rows_out"] for chunk in task.inputs("holdout"))
    task.count(rows_in=rows, rows_out=len(unique))


def decontaminated_train(task: Task) -> None:
    """Writes a train chunk without the documents whose exact text is in any holdout."""
    chunk = task.input("train")
    rows = chunk.array(".rows.npy")
    bad = contaminated(digests(rows), task.input("holdout_hashes").array(".npy"))
    selected = _write_selected(task, "decontaminated_train", chunk, rows, {"text_in_holdout": bad})
    task.count(lengths=by_power(selected["bytes"]))


def _write_selected(
    task: Task, split: str, chunk: Partition, rows: RowTable, dropped: Mapping[str, NDArray[np.bool_]]
) -> RowTable:
    """Writes the lines of all other rows unchanged, with their row table; members without dropped rows are copied.

    dropped: the rows that are not written, by reason; each has one reason. Returns the table of the written rows.
    """
    path, chosen = f"splits/{split}/{task.key}", ~np.logical_or.reduce(list(dropped.values()))
    sources = SourcesOfRows(rows)
    for reason, gone in dropped.items():
        task.drop_by_source(reason, sources.counts(gone))
        if reason in _LOST:
            show_rows(task, chunk, reason, gone)
    _write_lines(task, path, chunk, chosen)
    selected = np.ascontiguousarray(rows[chosen])
    task.save_array(f"{path}.rows.npy", selected)
    text_bytes = int(selected["bytes"].sum(dtype=np.uint64))
    task.count(rows_in=len(rows), rows_out=len(selected), text_bytes=text_bytes)
    task.count(by_source=sources.documents(chosen))
    return selected


def _write_lines(task: Task, path: str, chunk: Partition, chosen: NDArray[np.bool_]) -> None:
    """Writes the chosen lines. A chunk of which all are chosen is copied as it is stored, if alike."""
    rows = chunk.file(JSONL)
    alike = compression_of(rows.path) is compression_of(task.rows_path(f"{path}{JSONL}"))
    if chosen.all() and alike and chunk.has(TABLE) and rows.stored and chunk.file(TABLE).stored:
        for suffix in (JSONL, TABLE):
            task.copy(chunk, suffix, task.rows_path(f"{path}{suffix}"))
        return
    with task.lines(f"{path}{JSONL}", indexed=True) as out:
        if not chunk.has(TABLE):
            for line in chunk.chosen_lines(chosen):
                out.write(line)
            return
        for member, picked in chunk.members(chosen):
            if picked.all():
                out.copy(member)
                continue
            for line in compress(member.lines(), picked.tolist()):
                out.write(line)


_LOST = ("text_in_holdout", "repeat_of_held_out")
"""Drop reasons of rows that go to no other split."""


def _split_stage(
    name: str,
    description: str,
    compute: Any,
    inputs: Any,
    parameters: tuple[str, ...],
    *,
    reasons: tuple[str, ...],
    moves: Mapping[str, str] | None = None,
) -> Stage:
    return Stage(
        name=name,
        group="splits",
        unit_in="documents",
        unit_out="documents",
        reasons=reasons,
        moves=moves or {},
        description=description,
        partitioning=Partitioning.CHUNK,
        compute=compute,
        code_version="1",
        io="documents",
        inputs=tuple(same(asset) for asset in inputs),
        parameters=parameters,
        hooks=HeldOutHooks(name) if name in ("holdout", "validation", "test") else TrainHooks(name),
        columns=DOCUMENT_COLUMNS,
        kinds=("jsonl", "dolma"),
    )


_SELECTION = ("split.method", "split.seed", "split.holdout")

STAGES = [
    Stage(
        name="holdout_selection",
        group="splits",
        unit_in="documents",
        unit_out="sources",
        description="Threshold of each source: documents whose content hash is below it are held out.",
        partitioning=Partitioning.NONE,
        compute=holdout_selection,
        code_version="1",
        io="records",
        inputs=(every("mixed_pass1"),),
        parameters=("split.holdout", "split.seed"),
        hooks=SelectionHooks(),
        columns={
            "source": "string: its name",
            "threshold": "uint64: documents whose keyed hash is below it are held out",
        },
        kinds=("json",),
    ),
    _split_stage(
        "train",
        "What is left to train on of a chunk when its held-out documents are taken out.",
        train,
        ("mixed_pass2", "holdout_selection"),
        _SELECTION,
        reasons=("held_out",),
        moves={"held_out": "holdout"},
    ),
    _split_stage(
        "holdout",
        "The held-out documents of a chunk, chosen by content hash, each once; validation and test share them.",
        holdout,
        ("mixed_pass2", "holdout_selection"),
        _SELECTION,
        reasons=("not_held_out", "repeat_of_held_out"),
        moves={"not_held_out": "train"},
    ),
    _split_stage(
        "validation",
        "The held-out documents of a chunk to measure a model on during training.",
        validation,
        ("holdout",),
        ("split.seed", "split.validation"),
        reasons=("test",),
        moves={"test": "test"},
    ),
    _split_stage(
        "test",
        "The held-out documents of a chunk to measure a model on at the end.",
        test,
        ("holdout",),
        ("split.seed", "split.validation"),
        reasons=("validation",),
        moves={"validation": "validation"},
    ),
    Stage(
        name="holdout_hashes",
        group="splits",
        unit_in="documents",
        unit_out="texts",
        description="SHA-256 digests of all held-out texts, which are removed from train.",
        partitioning=Partitioning.NONE,
        compute=holdout_hashes,
        code_version="1",
        io="arrays",
        inputs=(every("holdout"),),
        columns={"digest": "uint8[32]: SHA-256 of a held-out text"},
        kinds=("numpy",),
    ),
    _split_stage(
        "decontaminated_train",
        "The train split: a chunk without the documents whose exact text is in any holdout. Datasets are made of it.",
        decontaminated_train,
        ("train", "holdout_hashes"),
        (),
        reasons=("text_in_holdout",),
    ),
]
