"""Corpora to measure on: the generator's when it lies beside the checkout, else the sample."""

import subprocess
import sys
from pathlib import Path

import yaml

from corpus_assets.raw.sample.writing import write_sample

GENERATOR = Path(__file__).resolve().parents[2] / "shared" / "tools" / "make_corpus.py"


def write_raw(folder: Path, megabytes: int) -> tuple[list[dict[str, str]], str]:
    """Raw shards in `jsonl.gz` below `folder`; returns the sources for corpus.yaml and what the corpus is."""
    if GENERATOR.is_file():
        size = [f"--size={megabytes}MB", "--formats=jsonl.gz", "--seed=7", "--workers=2"]
        command = [sys.executable, str(GENERATOR), f"--out={folder}", *size]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        names = sorted(path.name for path in (folder / "documents").iterdir())
        return [{"name": name, "location": f"raw/documents/{name}"} for name in names], "generated"
    summary = write_sample(folder, megabytes=megabytes)
    sources = [
        {"name": name, "location": "raw", "glob": source.pattern, "text_key": source.text_key}
        | ({"format": "txt_list"} if source.pattern.endswith("list-*.txt") else {})
        for name, source in summary.sources.items()
    ]
    return sources, "sample"


def write_corpus(folder: Path, megabytes: int) -> tuple[Path, str]:
    """A corpus.yaml with its raw shards; one worker's share of memory, no flushing to disk."""
    sources, kind = write_raw(folder / "raw", megabytes)
    config = {
        "name": "benchmark",
        "sources": sources,
        "storage": {"root": "corpus", "sync": False},
        "engine": {"workers": 0, "memory": "1 GiB"},
        "tokenizer": {"kind": "train", "vocabulary": 8192, "sample": "2 MiB"},
        "datasets": [{"name": "train", "input": "decontaminated_train"}],
    }
    path = folder / "corpus.yaml"
    path.write_text(yaml.safe_dump(config))
    return path, kind
