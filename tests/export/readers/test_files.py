"""Files of trainers opened by the libraries that the formats are made for: every row, without a trainer."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.export.exported import encoded, exported, folder_of, stream_of, tokenizer_of
from tests.export.masked import rules
from tests.export.masked.product import CHAT, built, of_hdf5
from tests.export.masked.product import dataset as product_dataset
from tests.export.readers.environments import needs, run
from tests.export.test_mds import cut

DOCUMENTS = {"unit": "document"}
WINDOW = 33
DATASETS: Mapping[str, Sequence[dict[str, Any]]] = {
    "streaming": (
        {"name": "mds", "format": "mds", "size_limit": 4000},
        {"name": "mds_fixed", "format": "mds", "size_limit": 4000, "fixed_size": True},
        {"name": "mds_zstd", "format": "mds", "size_limit": 4000, "compression": "zstd:1", "hashes": ["sha1", "xxh64"]},
        {"name": "mds_documents", "format": "mds", "size_limit": 4000, **DOCUMENTS},
    ),
    "litgpt": ({"name": "litdata", "format": "litdata", "chunk_blocks": 8},),
    "hugging-face": (
        {"name": "parquet", "format": "parquet", "file_ids": 1000, "columns": ["position_ids"]},
        {"name": "parquet_documents", "format": "parquet", "columns": ["source"], **DOCUMENTS},
    ),
}


@pytest.mark.parametrize("name", [needs(name) for name in DATASETS])
def test_the_libraries_read_every_id(tmp_path: Path, name: str) -> None:
    datasets = DATASETS[name]
    corpus = exported(tmp_path, *({**dataset, "sequence_length": WINDOW} for dataset in datasets))
    eos = tokenizer_of(corpus).eos_id
    windows = [window for ids in stream_of(corpus, eos).values() for window in cut(ids, WINDOW)]
    documents = [[*ids, eos] for of_partition in encoded(corpus).values() for ids in of_partition]
    asked = [[dataset["format"], str(folder_of(tmp_path, dataset["name"]))] for dataset in datasets]
    found = run(name, "files", [[*one, WINDOW] if one[0] == "litdata" else one for one in asked], tmp_path)
    for dataset, rows in zip(datasets, found, strict=True):
        assert rows == (documents if dataset.get("unit") else windows), dataset["name"]


MASKED: dict[str, tuple[str, dict[str, Any], Callable[[list[Any]], rules.Pairs]]] = {
    "parquet": ("hugging-face", {"reader": "trl"}, rules.trl),
    "arrow": ("hugging-face", {"reader": "llama_factory"}, rules.llama_factory),
    "mds": ("streaming", {}, lambda samples: rules.llm_foundry(samples, None)),
}


@pytest.mark.parametrize(("name", "kind"), [needs(MASKED[kind][0], kind) for kind in MASKED])
def test_the_libraries_read_what_is_learned(tmp_path: Path, name: str, kind: str) -> None:
    _, options, rule = MASKED[kind]
    built(tmp_path, product_dataset("hdf5", CHAT), product_dataset("masked", CHAT, format=kind, **options))
    (rows,) = run(name, "files", [[f"masked {kind}", str(folder_of(tmp_path, "masked"))]], tmp_path)
    assert rule(rows) == of_hdf5(tmp_path, "hdf5")
