"""Every reader learns of files what the documents say, pair by pair, and nothing across documents."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.export.masked import rules
from tests.export.masked.rules import Document, of_documents
from tests.export.masked.written import GOLDEN, write

READERS: dict[str, tuple[dict[str, Any], Any]] = {
    "trl rows": ({"format": "parquet", "reader": "trl"}, lambda made: rules.trl(made.parquet())),
    "trl documents": (
        {"format": "parquet", "reader": "trl", "unit": "document"},
        lambda made: rules.trl(made.parquet()),
    ),
    "transformers": ({"format": "parquet", "reader": "transformers"}, lambda made: rules.transformers(made.parquet())),
    "flattening": (
        {"format": "parquet", "reader": "transformers", "unit": "document"},
        lambda made: rules.flattening(made.parquet()),
    ),
    "axolotl": ({"format": "parquet", "reader": "axolotl"}, lambda made: rules.axolotl(made.parquet())),
    "llama_factory": (
        {"format": "arrow", "reader": "llama_factory"},
        lambda made: rules.llama_factory(made.arrow()),
    ),
    "llama_factory documents": (
        {"format": "arrow", "reader": "llama_factory", "unit": "document"},
        lambda made: rules.llama_factory(made.arrow()),
    ),
    "megatron_bridge": (
        {"format": "megatron_bridge", "sequence_length": 7},
        lambda made: rules.megatron_bridge(made.parquet(), 7),
    ),
    "olmo": ({"format": "olmo"}, lambda made: rules.olmo(*made.olmo())),
    "llm_foundry": ({"format": "mds", "size_limit": 1024}, lambda made: rules.llm_foundry(made.mds(), None)),
    "usual columns": ({"format": "parquet"}, lambda made: rules.transformers(made.parquet())),
}


@pytest.mark.parametrize("name", READERS)
def test_two_documents_with_one_learned_id_each(tmp_path: Path, name: str) -> None:
    options, rule = READERS[name]
    found = rule(write(tmp_path, GOLDEN, **options))
    assert found == {((11, 12), 13): 1, ((21, 22), 23): 1}


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    """Documents of 2 to 8 ids, of which one at least is learned, but never the first."""
    found: list[Document] = []
    for _ in range(draw(st.integers(0, 12))):
        length = draw(st.integers(2, 8))
        ids = draw(st.lists(st.integers(0, 2**31 - 1), min_size=length, max_size=length))
        learned = draw(st.lists(st.integers(0, 1), min_size=length - 1, max_size=length - 1).filter(any))
        found.append((ids, [0, *learned]))
    return found


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=30)
@given(documents=documents(), packing=st.sampled_from(["best_fit", "lpfhp", "nearest_previous"]))
def test_any_documents(name: str, documents: list[Document], packing: str) -> None:
    options, rule = READERS[name]
    with tempfile.TemporaryDirectory() as folder:
        made = write(Path(folder), documents, **{**options, "packing": packing, "file_ids": 20})
        assert rule(made) == of_documents(documents)
        assert made.files.totals.get("learned", 0) == sum(sum(learned) for _, learned in documents)
