"""`manifest.json` of a dataset of texts, and `README.md`, which tells `load_dataset` its files and columns."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from corpus_assets.export.format import totals_of
from corpus_assets.export.texts.columns import Type, columns, is_flat
from corpus_assets.export.texts.datasets import TextDataset
from corpus_assets.export.token_stream import sums_by_source
from corpus_assets.tokenize.counts.manifest import MANIFEST, VERSION, described
from resources.stage.partition import Partition
from resources.stage.task import Task

CARD = "README.md"
_SPLITS = {"validation": "validation", "test": "test"}
"""What `datasets` calls a split, where it is not the one to train with."""


def write_manifest(task: Task, dataset: TextDataset, made: Sequence[Partition]) -> None:
    """Writes the card, and last of all the manifest. made: partitions with the files."""
    section, totals = dataset.section, totals_of(made)
    rows_in, rows_out = (int(totals.get(key, 0)) for key in ("documents", "units"))
    dropped = {reason: lost["documents"] for reason, lost in sorted(totals["dropped"].items())}
    task.save_bytes(dataset.path(CARD), _card(dataset, made, rows_out).encode())
    value = {
        "version": VERSION,
        "dataset": dataset.name,
        "format": section.format,
        "rows": section.rows,
        "columns": columns(section) if section.is_table or is_flat(section) else None,
        "options": dict(task.parameters),
        "rows_in": rows_in,
        "rows_out": rows_out,
        "dropped": dropped,
        "text_bytes": int(totals.get("text_bytes", 0)),
        "sources": {source: dict(numbers) for source, numbers in sums_by_source(made).items()},
        "files": [
            *_files(dataset, made),
            *(described(file.path, dataset.path(""), file.digest) for file in task.files),
        ],
    }
    task.save_json(dataset.path(MANIFEST), value, rows=1)
    task.count(rows_in=rows_in, rows_out=rows_out, documents=rows_in, discarded=dropped)


def _files(dataset: TextDataset, made: Sequence[Partition]) -> Iterator[dict[str, Any]]:
    for partition in made:
        for file in partition.record.files:
            yield described(file.path, dataset.path(""), file.digest, file.bytes) | {"rows": file.rows}


def _card(dataset: TextDataset, made: Sequence[Partition], rows: int) -> str:
    """Returns the card. Files stand there by name: those that the corpus no longer has stay until `corpus clean`."""
    section = dataset.section
    files = [file.path.removeprefix(dataset.path("")) for one in made for file in one.record.files]
    split = _SPLITS.get(str(section.input), "train")
    lines = ["---", "configs:", "- config_name: default", "  data_files:"]
    lines += [f"  - split: {split}", f"    path: {json.dumps(files)}"]
    if is_flat(section):  # Without types, a column that the first rows of JSON lines lack would have none.
        features = [{"name": name, "dtype": _dtype(type_)} for name, type_ in columns(section).items()]
        told = {"dataset_info": {"config_name": "default", "features": features}}
        lines += [yaml.safe_dump(told, sort_keys=False, allow_unicode=True).rstrip()]
    lines += ["---", "", f"# {dataset.name}", "", f"{rows:,} rows of `{section.rows}`.", ""]
    return "\n".join(lines)


def _dtype(type_: Type) -> str:
    return str(type_)
