"""All processes of a build together, the driver included, take no more memory than `engine.memory`."""

import json
import random
import sys
from collections.abc import Iterable
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
    from benchmarks.dedup_pairs import LABELLED
    from benchmarks.dedup_real import SOURCES

    hostile = SHARED / "data" / "hostile"
    if not LABELLED.is_dir() or not hostile.is_dir():
        pytest.skip("the shared data is not beside the checkout")
    sources = [source | {"location": str(LABELLED)} for source in SOURCES]
    return [*sources, {"name": "hostile", "location": str(hostile)}]


def prose(size: int, seed: int) -> str:
    """A text of about so many bytes, in lines of words, of which a few thousand are different."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(1, 10))) for _ in range(5000)]
    lines = [" ".join(chance.choices(words, k=15)) + "." for _ in range(2000)]
    last = " ".join(chance.choices(words, k=size // 80))
    return "\n".join([*chance.choices(lines, k=size // 100), last])[:size]


def written(folder: Path, files: int, rows: Iterable[str]) -> list[dict[str, Any]]:
    """A source of texts, which its files take in turns."""
    (folder / "raw").mkdir()
    texts = list(rows)
    for number in range(files):
        lines = (json.dumps({"id": f"{number}-{row}", "text": text}) for row, text in enumerate(texts[number::files]))
        (folder / f"raw/{number}.jsonl").write_text("\n".join(lines) + "\n")
    return [{"name": "texts", "location": "raw"}]


def long_texts(folder: Path) -> list[dict[str, Any]]:
    """Six texts of 32 MiB in two files."""
    return written(folder, 2, (prose(32 << 20, seed) for seed in range(6)))


def one_text(folder: Path) -> list[dict[str, Any]]:
    """One text of 200 MB."""
    return written(folder, 1, [prose(200_000_000, 1), *(prose(2000, seed) for seed in range(50))])


def many_sources(folder: Path) -> list[dict[str, Any]]:
    """Three hundred sources."""
    written(folder, 300, (prose(2000, seed) for seed in range(300)))
    return [{"name": f"s{number}", "location": "raw", "glob": f"{number}.jsonl"} for number in range(300)]


def tiny_texts(folder: Path) -> list[dict[str, Any]]:
    """A million texts of a few words in one file."""
    return written(folder, 1, short_texts(1_000_000))


def tiny_files(folder: Path) -> list[dict[str, Any]]:
    """Ten thousand files of one row."""
    return written(folder, 10_000, short_texts(10_000))


def short_texts(count: int) -> Iterable[str]:
    """Different texts of five to ten words."""
    chance = random.Random(0)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(3, 9))) for _ in range(5000)]
    return (" ".join(chance.choices(words, k=chance.randint(5, 10))) for _ in range(count))


def one_cell(folder: Path) -> list[dict[str, Any]]:
    """A parquet file with a cell of 200 MB between small ones."""
    texts = [
        *(prose(2000, seed) for seed in range(25)),
        prose(200_000_000, 1),
        *(prose(2000, n) for n in range(25, 50)),
    ]
    (folder / "raw").mkdir()
    pq.write_table(pa.table({"id": [str(row) for row in range(len(texts))], "text": texts}), folder / "raw/a.parquet")
    return [{"name": "texts", "location": "raw"}]


def many_datasets(folder: Path) -> list[dict[str, Any]]:
    """A small corpus, of which two hundred datasets are made."""
    return written(folder, 4, (prose(2000, seed) for seed in range(300)))


def sources_of_one_file(folder: Path) -> list[dict[str, Any]]:
    """Three thousand sources."""
    written(folder, 3000, short_texts(3000))
    return [{"name": f"s{number}", "location": "raw", "glob": f"{number}.jsonl"} for number in range(3000)]


CORPORA = [
    *(sample, shared_data, long_texts, many_sources),
    *(
        pytest.param(corpus, marks=pytest.mark.minutes)
        for corpus in (one_text, tiny_texts, tiny_files, one_cell, many_datasets, sources_of_one_file)
    ),
]
DATASETS: list[dict[str, Any]] = [{"name": "train", "shuffle": True}, {"name": "megatron", "format": "megatron"}]
SMALL_DATASETS = [{"name": f"set{number}", "shuffle": True, "sequence_length": 64 + number} for number in range(200)]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("corpus", CORPORA)
def test_all_processes_of_a_build_keep_within_engine_memory(corpus: Any, tmp_path: Path) -> None:
    tokenizer: dict[str, Any] = {"kind": "train", "vocabulary": 1000, "sample": "1 MiB"}
    if corpus in (one_text, one_cell):  # A smaller sample may lack the long text; then there is an id for each byte.
        tokenizer["sample"] = "1 GiB"
    config = {
        "sources": [source | {"on_bad_file": "skip"} for source in corpus(tmp_path)],
        "storage": {"root": "corpus", "sync": False},
        "engine": {"workers": 2, "memory": MEMORY},
        "attributes": [{"name": "quality", "taggers": ["gopher_v2", "c4_v2", "pii_regex_with_counts_fast_v2"]}],
        "filter": {"rules": {"quality.gopher_v2.word_count": {"min": 1}}},
        "short_documents": {"threshold": 0},
        "dedup": {"max_loss": 1},
        "mix": {"chunks": 4},
        "tokenizer": tokenizer,
        "datasets": SMALL_DATASETS if corpus is many_datasets else DATASETS,
    }
    (tmp_path / "corpus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    command = [sys.executable, "-c", BUILD, "build", "--config", str(tmp_path / "corpus.yaml"), "--no-checks"]
    environment = {"DAGSTER_HOME": str(tmp_path / "home")}
    taken = process_tree.run(command, folder=TOP, environment=environment)
    print(f"{corpus.__name__}: {taken.peak_bytes / MEMORY:.2f} of engine.memory, {taken.wall_seconds} s")
    assert taken.peak_bytes < 1.1 * MEMORY
