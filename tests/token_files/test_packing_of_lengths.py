"""`corpus packing` over the lengths in a `.len.npy` of anybody."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from corpus_assets.cli.questions.packing import Asked, compared_file
from corpus_assets.document_lengths import lengths_in
from corpus_assets.token_files import pieces
from resources.errors import BadFileError, ConfigError
from tests.faults.command import last_json
from tests.forked import run

LENGTHS = [3, 8, 0, 5, 5, 2, 20]


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64", "uint16"])
def test_lengths_are_counted_in_blocks(tmp_path: Path, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "BLOCK_IDS", 2)
    np.save(tmp_path / "a.len.npy", np.array(LENGTHS, dtype))
    assert lengths_in(tmp_path / "a.len.npy") == Counter(LENGTHS)


def test_methods_are_compared(tmp_path: Path) -> None:
    np.save(tmp_path / "a.len.npy", np.array(LENGTHS, np.int32))
    found = compared_file(tmp_path / "a.len.npy", Asked("", 8, long_documents="cut"), ["best_fit", "stream_cut"])
    assert (found.documents, found.empty_documents, found.long, found.ids) == (6, 1, 1, 43)
    assert (found.truncated_tokens, found.sequences, found.lower_bound) == (12, 6, 4)
    assert [(row["method"], row["rows"]) for row in found.methods] == [("best_fit", 4), ("stream_cut", 3)]


def test_the_command_needs_no_corpus(tmp_path: Path) -> None:
    np.save(tmp_path / "a.len.npy", np.array(LENGTHS, np.int32))
    code, out, _ = run(tmp_path, "packing", "a.len.npy", "--length", "8", "--methods", "best_fit", "--json")
    assert (code, last_json(out)["methods"][0]["rows"]) == (0, 6)


def test_a_file_without_lengths_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.len.npy"
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        compared_file(file, Asked("", 8), ["best_fit"])
    np.save(file, np.array([1, -1]))
    with pytest.raises(BadFileError, match="document 1 has -1 ids"):
        compared_file(file, Asked("", 8), ["best_fit"])
    with pytest.raises(ConfigError, match="--length says how many ids a row has"):
        compared_file(file, Asked(""), ["best_fit"])
