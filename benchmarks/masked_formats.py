"""Masked documents in files beside the same ids alone: `python -m benchmarks.masked_formats [--quick] [--json]`.

The conversations of `benchmarks.chat` as ids, and what is learned of them, written by the functions of the formats with
default options, in turns; the best of several rounds counts. Beside each masked format stands the plain one of the same
name, and Parquet beside Megatron-Bridge. `<format>_mids_per_cpu_s`: millions of ids per CPU-second. `<format>_ratio`:
CPU seconds over those of the plain format. `<format>_bytes_ratio`: bytes of the files over those of the plain format.
"""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

os.environ.setdefault("RAYON_NUM_THREADS", "1")  # One core for everyone; read when the libraries load.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
from numpy.typing import NDArray

from benchmarks.chat import SECTION, TEMPLATE, conversations, measured_tokenizer
from benchmarks.minhash import load_texts
from benchmarks.printed import printed
from benchmarks.turns import best
from corpus_assets.config.datasets.exports import EXPORTS
from corpus_assets.config.datasets.masked import masked_section
from corpus_assets.export.documents import Documents, Parts
from corpus_assets.export.encoding import Encoded
from corpus_assets.export.format import Build, Files
from corpus_assets.export.masked.documents import MASK
from corpus_assets.export.masked.stream import learned_of
from corpus_assets.export.registry import format_of
from corpus_assets.export.token_stream import DATA, DOCUMENTS, IDS, LENGTHS, NAMES, StreamDocument, Written, id_type
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes.chat.chat import chat_control, masked_conversations
from corpus_assets.tokenize.modes.mode import Tools
from resources.stage.task import Given, Task
from resources.storage.local.store import LocalStorage

MEGABYTES, QUICK_MEGABYTES = 40, 4
ROUNDS, QUICK_ROUNDS = 7, 3
LENGTH = 4096
PLAIN: Mapping[str, str] = {
    "parquet": "parquet",
    "parquet_trl": "parquet",
    "arrow": "arrow",
    "megatron_bridge": "parquet",
    "mds": "mds",
    "olmo": "olmo",
}
"""The plain format that stands beside each masked one."""
OPTIONS: Mapping[str, Mapping[str, Any]] = {"parquet_trl": {"format": "parquet", "reader": "trl"}}
_MASKED: Mapping[str, Any] = {
    **{"name": "made", "mode": "chat", "input": {}, "tokenizer": None, "sequence_length": LENGTH},
    **dict.fromkeys(("unit", "reader", "columns")),
}


class _Stream(NamedTuple):
    """A partition of a token stream in memory: arrays by suffix."""

    arrays: Mapping[str, NDArray[Any]]
    sources: Mapping[str, Sequence[str]]
    key: str = "part"
    name: str = "part"

    def array(self, suffix: str) -> NDArray[Any]:
        return self.arrays[suffix]

    def json(self, suffix: str) -> Mapping[str, Sequence[str]]:
        assert suffix == NAMES
        return self.sources


def documents(megabytes: int) -> tuple[Documents, Any]:
    """Conversations as masked documents, and their tokenizer."""
    tokenizer = measured_tokenizer()
    tokenizer = tokenizer.with_control(chat_control(SECTION, tokenizer, TEMPLATE))
    examples = conversations(load_texts(megabytes)[0], megabytes * 10**6)
    batches = [*masked_conversations(SECTION, examples, Tools(tokenizer, Statistics(), TEMPLATE), LENGTH)]
    written, tables = Written(), []
    for batch in batches:
        said = [examples[item] for item in batch.items.tolist()]
        told = [StreamDocument(one.id, one.source, "", 0, number, 0) for number, one in enumerate(said)]
        tables.append(written.table(Encoded(told, batch.tokens)))
    arrays = {
        DOCUMENTS: np.concatenate([rows for rows, _ in tables]),
        IDS: np.frombuffer(b"".join(names for _, names in tables), np.uint8).copy(),
        DATA: np.concatenate([batch.tokens.ids for batch in batches]).astype(id_type(tokenizer.vocab_size)),
        MASK: np.concatenate([learned_of(batch) for batch in batches]),
        LENGTHS: np.concatenate([batch.tokens.lengths for batch in batches]).astype(np.int32),
    }
    for array in arrays.values():
        array.flags.writeable = False  # As files are mapped.
    stream: Any = _Stream(arrays, {"sources": [*written.sources]})
    return Documents.of(stream, None, None, empty=False), tokenizer


def write(folder: Path, section: Any, given: Documents, tokenizer: Any) -> int:
    """Writes documents as files of a format, and removes them; returns how many bytes these had."""
    task = Task(Given("made", given.key, LocalStorage(folder, sync=False), {}))
    build: Build[Any] = Build("made", section, tokenizer, None, None)
    format_of(section).write(task, build, Parts([given.stream], lambda _: given), Files())
    task.publish()
    written = sum(path.stat().st_size for path in (folder / "exports").rglob("*") if path.is_file())
    rmtree(folder / "exports")
    return written


def measure(quick: bool) -> dict[str, Any]:
    """All figures."""
    given, tokenizer = documents(QUICK_MEGABYTES if quick else MEGABYTES)
    sections = {
        **{f"plain_{name}": _plain(name) for name in dict.fromkeys(PLAIN.values())},
        **{name: masked_section({**_MASKED, "format": name, **OPTIONS.get(name, {})}) for name in PLAIN},
    }
    with tempfile.TemporaryDirectory() as folder:
        works: dict[str, Callable[[], int]] = {
            name: partial(write, Path(folder), section, given, tokenizer) for name, section in sections.items()
        }
        stored = {name: work() for name, work in works.items()}  # Kernels, libraries and memory.
        spent = best(works, QUICK_ROUNDS if quick else ROUNDS)
    return {
        "ids": given.ids,
        "documents": len(given),
        **{f"{name}_mids_per_cpu_s": round(given.ids / 1e6 / seconds, 1) for name, seconds in spent.items()},
        **{f"{name}_ratio": round(spent[name] / spent[f"plain_{plain}"], 2) for name, plain in PLAIN.items()},
        **{f"{name}_bytes_ratio": round(stored[name] / stored[f"plain_{plain}"], 2) for name, plain in PLAIN.items()},
    }


def _plain(name: str) -> Any:
    options = {"name": "made", "input": "train", "separator": "none", "format": name}
    windows = {"sequence_length": LENGTH} if "sequence_length" in EXPORTS[name].model_fields else {}
    return EXPORTS[name].model_validate(options | windows)


def main() -> None:
    printed(__doc__, measure)


if __name__ == "__main__":
    main()
