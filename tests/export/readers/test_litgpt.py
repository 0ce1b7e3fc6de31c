"""LitGPT and litdata, as their page says: every window reaches the model, and the model learns."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from tests.build.small import opened
from tests.export.exported import folder_of, tokenizer_of
from tests.export.readers.environments import block, needs, run
from tests.export.readers.trained import falls, rows_of, windows_of
from tests.export.test_mds import cut
from tests.export.texts.made import all_rows

PAGE = "litgpt"
environment = pytest.mark.parametrize("name", [needs("litgpt")])
Corpora = Callable[[str], Path]


def ran(name: str, folder: Path, page: str, words: str, **options: str) -> Any:
    """A command of a page, run with a tiny model."""
    command = shlex.split(block(page, "sh", words).replace("\\\n", ""))
    given = {"words": command, "vocabulary": tokenizer_of(opened(folder)).vocab_size}
    more = {f"--{option.replace('__', '.')}": value for option, value in options.items()}
    return run(name, "lit", {**given, "options": more}, folder, TORCHDYNAMO_DISABLE="1")


@environment
def test_every_window_reaches_the_model(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    windows = windows_of(folder, 2049)
    found = ran(name, folder, PAGE, "litgpt pretrain", train__max_tokens=str(2048 * len(windows)))
    assert rows_of(found["batches"]) == sorted(window[:-1] for window in windows)
    assert rows_of(found["batches"], "targets") == sorted(window[1:] for window in windows)
    assert falls(found["losses"])


@environment
def test_answers_and_their_end_are_learned(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of("sft-texts")
    found = ran(name, folder, "sft-texts", "finetune_full", train__epochs="1")
    tokenizer = Tokenizer.from_file(str(folder / "corpus/tokenizer/tokenizer.json"))
    rows = all_rows(folder, "litgpt")
    answers = {tuple(tokenizer.encode(f"{row['output']}<|endoftext|>").ids) for row in rows}
    learned = [tuple(id_ for id_ in batch["targets"][0] if id_ != -100) for batch in found["batches"]]
    assert set(learned) <= answers
    assert len(learned) == len(set(learned)) == len(rows) * 0.95
    assert falls(found["losses"])


@environment
def test_every_window_is_loaded_without_litgpt(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    batches = run(name, "lit", {"code": block(PAGE, "python", "StreamingDataLoader")}, folder)
    assert sorted(row for batch in batches for row in batch) == sorted(windows_of(folder, 2049))


@environment
def test_another_block_size_loses_the_rest_of_each_file(corpus_of: Corpora, name: str) -> None:
    folder = folder_of(corpus_of(PAGE), "litgpt")
    (found,) = run(name, "files", [["litdata", str(folder), 1000]], corpus_of(PAGE))
    files = [chunk["filename"] for chunk in json.loads((folder / "index.json").read_text())["chunks"]]
    assert found == [one for file in files for one in cut(ids_of(folder / file), 1000)]


def ids_of(path: Path) -> list[int]:
    """The ids of a file of blocks, which begin where its table of offsets says."""
    content = path.read_bytes()
    ids: list[int] = np.frombuffer(content, "<i4", offset=int(np.frombuffer(content, "<u4", 2)[1])).tolist()
    return ids
