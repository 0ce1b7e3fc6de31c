"""A corpus with masked datasets in formats of trainers, beside the same datasets in HDF5, which are the oracle."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow.parquet as pq

from corpus_assets.corpus.corpus import Corpus
from tests.build.small import drive, opened, prose, write_small
from tests.export.masked.rules import Pairs

TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
TOKENS = ["<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|user|>", "<|assistant|>", "<|end|>", "<|sep|>"]
LENGTH = 256
CHAT: dict[str, Any] = {"mode": "chat", "input": {"location": "own/chat", "messages_key": "messages"}}
CHAT |= {"chat_template": "chat.jinja", "truncate": "discard"}
PAIRS: dict[str, Any] = {"mode": "summarization", "input": {"location": "own/pairs"}, "separator": "<|sep|>"}
TURNS: dict[str, Any] = {"mode": "summarization_vsl", "input": {"location": "own/pairs"}}
FIM: dict[str, Any] = {"mode": "fim", "input": "validation", "fim_rate": 1.0}
MODES = {"chat": CHAT, "pairs": PAIRS, "turns": TURNS}


def dataset(name: str, mode: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """An entry of `datasets`."""
    return deepcopy({"name": name, "sequence_length": LENGTH, **mode, **options})


def write_own(folder: Path) -> None:
    """Conversations and pairs in two files each; one of the conversations is longer than a row."""
    (folder / "chat.jinja").write_text(TEMPLATE)
    for file in ("a", "b"):
        chats = []
        for number in range(9):
            turns = range(9 if number == 4 else number % 3 + 1)
            said = [("user", f"{file}{number}u{turn}") for turn in turns]
            messages = [
                {"role": role, "content": prose(f"{seed}{role}", 4)}
                for _, seed in said
                for role in ("user", "assistant")
            ]
            chats.append({"id": f"{file}{number}", "messages": messages})
        _lines(folder / f"own/chat/{file}.jsonl", chats)
        pairs = [
            {"id": f"{file}{n}", "prompt": prose(f"{file}p{n}", 5), "completion": prose(f"{file}c{n}", n % 4 + 1)}
            for n in range(9)
        ]
        _lines(folder / f"own/pairs/{file}.jsonl", pairs)


def _lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def built(folder: Path, *datasets: Mapping[str, Any], **changes: Any) -> Corpus:
    """The corpus with these datasets alone, built."""
    write_own(folder)
    write_small(folder, {"datasets": list(datasets), "tokenizer.special_tokens": TOKENS, **changes})
    corpus = opened(folder)
    done = drive(corpus)
    assert (done.failed, done.waiting) == ([], [])
    return corpus


def of_hdf5(folder: Path, name: str) -> Pairs:
    """What is learned of the rows of a dataset in HDF5: its own channels say where a sequence begins."""
    found: Pairs = Counter()
    for path in sorted((folder / f"corpus/tokens/{name}").glob("*.h5")):
        with h5py.File(path) as file:
            for row in file["data"][:]:
                found.update(_of_row(row))
    return found


def _of_row(row: np.ndarray[Any, Any]) -> Iterator[tuple[tuple[int, ...], int]]:
    ids, mask, labels = (channel.tolist() for channel in row[:3])
    positions = row[4].tolist() if len(row) == 5 else list(range(len(ids)))
    for place, used in enumerate(mask):
        if used:
            yield tuple(ids[place - positions[place] : place + 1]), labels[place]


def exported_rows(folder: Path, name: str) -> list[dict[str, list[int]]]:
    """The rows of all Parquet files of a dataset."""
    paths = sorted((folder / f"corpus/exports/{name}").glob("*.parquet"))
    return [row for path in paths for row in pq.read_table(path).to_pylist()]
