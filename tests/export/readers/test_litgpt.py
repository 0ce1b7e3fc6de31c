"""LitGPT and litdata, as their page says: every window reaches the model, and the model learns."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.build.small import opened
from tests.export.exported import tokenizer_of
from tests.export.readers.environments import block, needs, run
from tests.export.readers.trained import falls, rows_of, windows_of

PAGE = "litgpt"
environment = pytest.mark.parametrize("name", [needs("litgpt")])
Corpora = Callable[[str], Path]


@environment
def test_every_window_reaches_the_model(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    windows = windows_of(folder, 2049)
    words = shlex.split(block(PAGE, "sh", "litgpt pretrain").replace("\\\n", ""))
    given = {"words": words, "vocabulary": tokenizer_of(opened(folder)).vocab_size, "ids": 2048 * len(windows)}
    found = run(name, "lit", given, folder, TORCHDYNAMO_DISABLE="1")
    assert rows_of(found["batches"]) == sorted(window[:-1] for window in windows)
    assert rows_of(found["batches"], "targets") == sorted(window[1:] for window in windows)
    assert falls(found["losses"])


@environment
def test_every_window_is_loaded_without_litgpt(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    batches = run(name, "lit", {"code": block(PAGE, "python", "StreamingDataLoader")}, folder)
    assert sorted(row for batch in batches for row in batch) == sorted(windows_of(folder, 2049))
