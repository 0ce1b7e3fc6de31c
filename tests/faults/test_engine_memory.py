"""All processes of a build together, the driver included, take no more memory than `engine.memory`."""

import json
import random
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from benchmarks import process_tree
from corpus_assets.raw.sample.writing import write_sample
from tests.golden import SHARED

MEMORY = 2 << 30
BUILD = "from corpus_assets.cli.main import main; main()"
TOP = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]


def sample(folder: Path) -> list[dict[str, Any]]:
    """The sample corpus."""
    summary = write_sample(folder / "raw", megabytes=30)
    return [
        {"name": name, "location": "raw", "glob": source.pattern, "text_key": source.text_key}
        | ({"format": "txt_list"} if source.pattern.endswith("list-*.txt") else {})
        for name, source in summary.sources.items()
    ]


def shared_data(_: Path) -> list[dict[str, Any]]:
    """Real texts, and files that are meant to break readers."""
    from benchmarks.dedup_real import LABELLED, SOURCES

    hostile = SHARED / "data" / "hostile"
    if not LABELLED.is_dir() or not hostile.is_dir():
        pytest.skip("the shared data is not beside the checkout")
    sources = [source | {"location": str(LABELLED)} for source in SOURCES]
    return [*sources, {"name": "hostile", "location": str(hostile)}]


def one_text_in_many_rows(folder: Path) -> list[dict[str, Any]]:
    """Rows of a parquet file that share a text of 32 MiB, with both encodings that store it once."""
    (folder / "raw").mkdir()
    table = pa.table({"text": pa.array(["a b c d " * (4 << 20)] * 6, pa.large_string())})
    pq.write_table(table, folder / "raw/shared.parquet")
    front = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}
    pq.write_table(table, folder / "raw/front.parquet", compression="none", **front)
    return [{"name": "same", "location": "raw"}]


def long_documents(folder: Path) -> list[dict[str, Any]]:
    """Documents of 48 MiB, each another, two files at a time."""
    (folder / "raw").mkdir()
    for number in range(2):
        chance = random.Random(number)
        words = ["".join(chance.choices("abcdefghijklmnop", k=7)) for _ in range(6 << 20)]
        text = " ".join(words)
        (folder / f"raw/{number}.jsonl").write_text(json.dumps({"id": f"{number}", "text": text}) + "\n")
    return [{"name": "long", "location": "raw"}]


@pytest.mark.parametrize("corpus", [sample, shared_data, one_text_in_many_rows, long_documents])
def test_all_processes_of_a_build_keep_within_engine_memory(corpus: Any, tmp_path: Path) -> None:
    config = {
        "sources": [source | {"on_bad_file": "skip"} for source in corpus(tmp_path)],
        "storage": {"root": "corpus", "sync": False},
        "engine": {"workers": 2, "memory": MEMORY},
        "attributes": [{"name": "quality", "taggers": ["gopher_v2", "c4_v2", "pii_regex_with_counts_fast_v2"]}],
        "filter": {"rules": {"quality.gopher_v2.word_count": {"min": 1}}},
        "dedup": {"max_loss": 1},
        "mix": {"chunks": 4},
        "tokenizer": {"kind": "train", "vocabulary": 1000, "sample": "1 MiB"},
        "datasets": [{"name": "train", "shuffle": True}, {"name": "megatron", "format": "megatron"}],
    }
    (tmp_path / "corpus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    command = [sys.executable, "-c", BUILD, "build", "--config", str(tmp_path / "corpus.yaml"), "--no-checks"]
    environment = {"DAGSTER_HOME": str(tmp_path / "home")}
    taken = process_tree.run(command, folder=TOP, environment=environment)
    assert taken.peak_bytes < MEMORY
