"""Files of trainers opened by the trainers' own libraries, which have an environment of their own."""

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.export.exported import encoded, exported, folder_of, stream_of, tokenizer_of
from tests.export.masked import rules
from tests.export.masked.product import CHAT, built, of_hdf5
from tests.export.masked.product import dataset as product_dataset
from tests.export.test_mds import cut

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-readers" / "bin" / "python"
DOCUMENTS = {"unit": "document"}
DATASETS: Sequence[dict[str, Any]] = (
    {"name": "mds", "format": "mds", "size_limit": 4000},
    {"name": "mds_fixed", "format": "mds", "size_limit": 4000, "fixed_size": True},
    {"name": "mds_zstd", "format": "mds", "size_limit": 4000, "compression": "zstd:1", "hashes": ["sha1", "xxh64"]},
    {"name": "mds_documents", "format": "mds", "size_limit": 4000, **DOCUMENTS},
    {"name": "litdata", "format": "litdata", "chunk_blocks": 8},
    {"name": "parquet", "format": "parquet", "file_ids": 1000, "columns": ["position_ids"]},
    {"name": "parquet_documents", "format": "parquet", "columns": ["source"], **DOCUMENTS},
)
WINDOW = 33


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON.exists(), reason="no .venv-readers with the trainers' libraries: `make test-readers`")
def test_the_libraries_read_every_id(tmp_path: Path) -> None:
    corpus = exported(tmp_path, *({**dataset, "sequence_length": WINDOW} for dataset in DATASETS))
    eos = tokenizer_of(corpus).eos_id
    windows = [window for ids in stream_of(corpus, eos).values() for window in cut(ids, WINDOW)]
    documents = [[*ids, eos] for of_partition in encoded(corpus).values() for ids in of_partition]
    asked = [[dataset["format"], str(folder_of(tmp_path, dataset["name"])), WINDOW] for dataset in DATASETS]
    found = of_libraries(*asked)
    for dataset, rows in zip(DATASETS, found, strict=True):
        assert rows == (documents if dataset.get("unit") else windows), dataset["name"]


def of_libraries(*asked: Sequence[Any]) -> list[Any]:
    """What the libraries read of folders. asked: format, folder and ids per block."""
    script = str(Path(__file__).with_name("read_with_libraries.py"))
    done = subprocess.run([PYTHON, script, json.dumps(asked)], check=True, stdout=subprocess.PIPE, text=True)
    found: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return found


MASKED: dict[str, tuple[dict[str, Any], Callable[[list[Any]], rules.Pairs]]] = {
    "parquet": ({"reader": "trl"}, rules.trl),
    "arrow": ({"reader": "llama_factory"}, rules.llama_factory),
    "mds": ({}, lambda samples: rules.llm_foundry(samples, None)),
}


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON.exists(), reason="no .venv-readers with the trainers' libraries: `make test-readers`")
@pytest.mark.parametrize("name", MASKED)
def test_the_libraries_read_what_is_learned(tmp_path: Path, name: str) -> None:
    options, rule = MASKED[name]
    built(tmp_path, product_dataset("hdf5", CHAT), product_dataset("masked", CHAT, format=name, **options))
    (rows,) = of_libraries([f"masked {name}", str(folder_of(tmp_path, "masked")), 0])
    assert rule(rows) == of_hdf5(tmp_path, "hdf5")
