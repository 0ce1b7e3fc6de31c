"""OLMo-core over our token files, and over those with masks."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tests.build.small import opened
from tests.export.exported import exported, stream_of, tokenizer_of
from tests.export.masked import rules
from tests.export.masked.product import of_hdf5
from tests.export.masked.written import GOLDEN, write
from tests.export.readers.conftest import ORACLE
from tests.export.readers.environments import block, blocks, needs, run
from tests.export.readers.trained import falls
from tests.export.test_mds import cut

NAME = "olmo-core"
NUMBERS = "vocab_size=50257, eos_token_id=50256, pad_token_id=50256"
PACKED = "NumpyPackedFSLDatasetConfig"


def numbered(code: str, vocabulary: int, eos: int, **numbers: str) -> str:
    """A block of the page with other numbers."""
    assert NUMBERS in code
    code = code.replace(NUMBERS, f"vocab_size={vocabulary}, eos_token_id={eos}, pad_token_id={eos}")
    for old, new in numbers.items():
        assert old.removeprefix("n") in code
        code = code.replace(old.removeprefix("n"), new)
    return code


def learned(rows: list[dict[str, Any]]) -> rules.Pairs:
    """What is learned of rows: where there is a label, after the ids of its document."""
    found: rules.Pairs = Counter()
    for row in rows:
        ends = np.cumsum([0, *row["lengths"]]).tolist()
        assert ends[-1] == len(row["ids"])
        for start, end in pairwise(ends):
            found.update(
                (tuple(row["ids"][start : place + 1]), row["labels"][place])
                for place in range(start, end)
                if row["labels"][place] != rules.IGNORED
            )
    return found


@pytest.mark.parametrize("name", [needs(NAME)])
def test_windows_are_our_ids_and_every_epoch_has_all_of_them(tmp_path: Path, name: str) -> None:
    corpus = exported(tmp_path, *yaml.safe_load(blocks(NAME, "yaml")[0])["datasets"])
    tokenizer = tokenizer_of(corpus)
    assert tokenizer.eos_id is not None
    code = numbered(block(NAME, "python", "NumpyDataLoaderConfig"), tokenizer.vocab_size, tokenizer.eos_id, n2048="32")
    found = run(name, "olmo_core", {"block": code.replace("64 * 32", "4 * 32")}, tmp_path)
    windows = [window for ids in stream_of(corpus, tokenizer.eos_id).values() for window in cut(ids, 32)]
    assert found["windows"] == windows
    seen = [number for numbers, _ in found["epoch"] for number in numbers]
    assert len(seen) == len(set(seen)) == len(windows) // 4 * 4
    assert [row for _, rows in found["epoch"] for row in rows] == [windows[number] for number in seen]
    assert found["rows"] == 2 * len(seen)
    assert "did you forget to call 'reshuffle()'" in found["without"]
    assert falls(found["losses"])


@pytest.mark.parametrize("name", [needs(NAME)])
def test_packed_rows_of_the_page_learn_what_is_learned_in_hdf5(corpus_of: Callable[[str], Path], name: str) -> None:
    folder = corpus_of(NAME)
    tokenizer = tokenizer_of(opened(folder))
    assert tokenizer.eos_id is not None
    code = numbered(block(NAME, "python", PACKED), tokenizer.vocab_size, tokenizer.eos_id)
    found = run(name, "olmo_core", {"block": code}, folder)
    assert learned(found["rows"]) == of_hdf5(folder, ORACLE)
    assert falls(found["losses"])


HOSTILE: list[rules.Document] = [([11, 99, 13, 14], [0, 0, 1, 0]), ([21, 22, 23], [0, 0, 1]), ([31, 32], [0, 1])]
"""One document with an end inside, two without one."""


@pytest.mark.parametrize(("name", "documents"), [needs(NAME, "golden"), needs(NAME, "hostile")])
def test_documents_are_those_of_the_table_with_the_option_of_the_page(
    tmp_path: Path, name: str, documents: str
) -> None:
    (tmp_path / "corpus").mkdir()
    known = {"golden": GOLDEN, "hostile": HOSTILE}[documents]
    made = write(tmp_path, known, eos=99, format="olmo", sequence_length=8)
    code = numbered(block(NAME, "python", PACKED), 2**31, 99, n4096="8")
    code = code.replace("CORPUS/exports/sft", str(made.folder))
    found = run(name, "olmo_core", {"block": code}, tmp_path)
    assert learned(found["rows"]) == rules.of_documents(known)
    assert "use_array_if_local=False" in code
    without = run(name, "olmo_core", {"block": code.replace("use_array_if_local=False,", "")}, tmp_path)
    assert learned(without["rows"]) != rules.of_documents(known)
