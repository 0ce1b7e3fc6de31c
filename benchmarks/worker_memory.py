"""The memory of a worker: `python -m benchmarks.worker_memory [--quick] [--json]`, with the extra `ray`.

Of the one worker of an engine, after it did every default stage, with compiled kernels: the memory of its own, and its
part of the pages that it shares with other processes (PSS on Linux). MB are 10^6 bytes.

`local_base_mb`, `ray_base_mb`: on a few documents, so this is what a worker takes before it holds data: libraries,
compiled kernels, a tokenizer of 300 tokens. `local_base_100k_mb`, `ray_base_100k_mb`: with a tokenizer of 100,000
tokens instead, if one lies beside the checkout. `local_counted_mb`, `ray_counted_mb`: what `engine.memory` counts for
that (resources/engine/memory.py).
`local_data_mb`, `ray_data_mb`: what a worker keeps beyond its base after a corpus of larger shards.
"""

import argparse
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import psutil
import yaml

from benchmarks.driver import write_corpus
from benchmarks.empty_jobs import process_id
from benchmarks.engines import build, engine_kinds, opened

SHARDS, QUICK_SHARDS = (32, 6_000), (4, 1_000)
"""Shards of the corpus with data, and documents of each."""

TOKENIZER = Path(__file__).resolve().parents[2] / "shared" / "tokenizers" / "olmo-dolma2" / "tokenizer.json"
_WORDS, _STEP, _CHAIN = 90, 8, 12


def write_tiny(folder: Path, tokenizer: Path | None = None) -> Path:
    """A corpus of a few documents that has work for every default stage. tokenizer: a tokenizer.json; else one is
    trained on it.

    Some documents resemble each other in a chain whose ends do not, so candidates are compared by their texts and a
    cluster is examined, which loads networkit.
    """
    write_corpus(folder, 1)
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnop", k=9)) for _ in range(_WORDS + _STEP * _CHAIN)]
    texts = [" ".join(words[_STEP * number :][:_WORDS]) for number in range(_CHAIN)]
    rows = [json.dumps({"id": f"chain-{number}", "text": text}) for number, text in enumerate([*texts, texts[0]])]
    (folder / "raw/chain.jsonl").write_text("\n".join(rows) + "\n")
    if tokenizer is not None:
        path = folder / "corpus.yaml"
        section = {"kind": "tokenizer_json", "path": str(tokenizer), "eos": "<|endoftext|>"}
        path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"tokenizer": section}))
    return folder


def worker_bytes(kind: str, folder: Path, store: str) -> int:
    """The memory of a new worker after it built a corpus into a new store, whose kernels another engine compiled."""
    with opened("local", 1) as engine:
        build(folder, engine, f"{store}-compiling")
    with opened(kind, 1) as engine:
        build(folder, engine, store)
        [worker] = engine.spread(process_id, [None])
        found: int = psutil.Process(worker).memory_full_info().pss
        return found


def measure(shards: int, documents: int) -> dict[str, Any]:
    """The figures of the engines that are there. documents: of each of the shards with data."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        tiny, large = write_tiny(Path(place, "tiny")), write_corpus(Path(place, "large"), shards, documents)
        there = TOKENIZER.is_file()
        big = write_tiny(Path(place, "big"), TOKENIZER) if there else None
        for kind in engine_kinds():
            base = worker_bytes(kind, tiny, kind)
            with opened(kind, 1) as engine:
                counted = engine.own_memory
            found |= {
                f"{kind}_base_mb": _megabytes(base),
                f"{kind}_base_100k_mb": _megabytes(worker_bytes(kind, big, kind)) if big else None,
                f"{kind}_counted_mb": _megabytes(counted),
                f"{kind}_data_mb": _megabytes(worker_bytes(kind, large, kind) - base),
            }
    return found


def _megabytes(value: int) -> int:
    return round(value / 1e6)


def figures(quick: bool) -> dict[str, Any]:
    """The figures with large shards, or with few and small ones."""
    return measure(*(QUICK_SHARDS if quick else SHARDS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few and small shards")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    found = figures(given.quick)
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:24}{'not measured' if value is None else value:>13}")


if __name__ == "__main__":
    main()
