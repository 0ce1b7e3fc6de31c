"""Megatron-Bridge's own reader over our packed rows: what it learns, after what."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.build.small import opened
from tests.export.exported import tokenizer_of
from tests.export.masked import rules
from tests.export.masked.product import of_hdf5
from tests.export.masked.written import GOLDEN, write
from tests.export.readers.conftest import ORACLE
from tests.export.readers.environments import PAGES, needs, run
from tests.export.readers.trained import falls

NAME = "megatron-lm"
NOT_THERE = "megatron-bridge 0.6.2, which reads Parquet, needs Python 3.12"


def read(name: str, folder: Path, rows: Path, length: int, eos: int) -> dict[str, Any]:
    found: dict[str, Any] | None = run(
        name, "megatron_bridge", {"folder": str(rows), "length": length, "eos": eos}, folder
    )
    if found is None:
        pytest.skip(NOT_THERE)
    return found


def learned(rows: list[dict[str, Any]]) -> rules.Pairs:
    """What is learned of collated rows: where the mask is 1 the label, after the ids of its document."""
    found: rules.Pairs = Counter()
    for row in rows:
        for place, used in enumerate(row["loss_mask"]):
            if used:
                start = place - row["position_ids"][place]
                found[tuple(row["tokens"][start : place + 1]), row["labels"][place]] += 1
    return found


@pytest.mark.parametrize("name", [needs(NAME)])
def test_the_golden_pack(tmp_path: Path, name: str) -> None:
    (tmp_path / "corpus").mkdir()
    made = write(tmp_path, GOLDEN, format="megatron_bridge", sequence_length=8)
    (row,) = read(name, tmp_path, made.folder, 8, 99)["rows"]
    assert learned([row]) == rules.of_documents(GOLDEN)
    assert row["count"] == 5
    assert row["position_ids"][:5] == [0, 1, 2, 0, 1]


@pytest.mark.parametrize("name", [needs(NAME)])
def test_conversations_of_the_page_are_learned_as_in_hdf5(corpus_of: Callable[[str], Path], name: str) -> None:
    folder = corpus_of(NAME)
    eos = tokenizer_of(opened(folder)).eos_id
    assert eos is not None
    assert (
        'packed_train_data_path="CORPUS/exports/sft")`, with `packed_sequence_size` 4096'
        in (PAGES / f"{NAME}.md").read_text()
    )
    found = read(name, folder, Path("CORPUS/exports/sft"), 4096, eos)
    assert learned(found["rows"]) == of_hdf5(folder, ORACLE)
    assert falls(found["losses"])


@pytest.mark.parametrize("name", [needs(NAME)])
def test_what_follows_an_end_of_text_id_is_not_learned(tmp_path: Path, name: str) -> None:
    (tmp_path / "corpus").mkdir()
    made = write(tmp_path, [([11, 99, 13, 99], [0, 1, 1, 1])], format="megatron_bridge", sequence_length=8)
    (row,) = read(name, tmp_path, made.folder, 8, 99)["rows"]
    assert learned([row]) == {((11,), 99): 1, ((11, 99, 13), 99): 1}
