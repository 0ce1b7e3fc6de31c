"""megatron-core over our indexed datasets, and over index files that `corpus megatron-cache` wrote."""

import hashlib
import json
import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from corpus_assets.megatron_cache.blends import blend_of
from corpus_assets.megatron_cache.caches import Cache, Run, write_caches
from corpus_assets.megatron_cache.folder import cache_folder
from tests.export.exported import encoded, exported, tokenizer_of
from tests.export.readers.environments import ROOT, block, blocks, needs, run
from tests.export.readers.trained import falls
from tests.megatron_cache.plain import write_indexed

NAME = "megatron-lm"
TOKENIZER = {"class": "tests.Tokenizer", "tokenizer_path": "é/own"}
PARTS = ("train", "valid", "test")
SHELL = 'PATH="$OURS:$PATH"; python() { printf "%s\\n" "$@"; }; '


def corpus_of_the_page(folder: Path) -> tuple[Any, int, int]:
    """The corpus with the dataset of the page; documents with their end by prefix, that end, and the vocabulary."""
    corpus = exported(folder, *yaml.safe_load(blocks(NAME, "yaml")[0])["datasets"])
    tokenizer = tokenizer_of(corpus)
    assert tokenizer.eos_id is not None
    documents = {
        f"{key}_text_document": [[*ids, tokenizer.eos_id] for ids in of if ids] for key, of in encoded(corpus).items()
    }
    assert len(documents) > 1
    return documents, tokenizer.eos_id, tokenizer.vocab_size


def shell(folder: Path, code: str) -> list[str]:
    """The lines that a block prints; `python` prints its arguments instead of training."""
    if not (folder / "CORPUS").exists():
        (folder / "CORPUS").symlink_to(folder / "corpus", target_is_directory=True)
    environment = {**os.environ, "OURS": str(ROOT / ".venv" / "bin")}
    done = subprocess.run(
        ["bash", "-ec", SHELL + code], cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.splitlines()


def drawn(cache: Path, caches: Sequence[dict[str, Any]], documents: Any, length: int, most: int) -> list[list[int]]:
    """The first samples of a blend by its index files, read with numpy alone."""

    def index(base: str, name: str) -> Any:
        return np.load(cache / f"{base}-{name}.npy")

    *members, blend = [one["base"] for one in caches]
    prefixes = [Path(one["prefix"]).name for one in caches[:-1]]
    found = []
    for dataset, sample in zip(
        index(blend, "dataset_index")[:most], index(blend, "dataset_sample_index")[:most], strict=True
    ):
        number = int(index(members[dataset], "shuffle_index")[sample])
        place, offset = index(members[dataset], "sample_index")[number]
        ids: list[int] = []
        order = index(members[dataset], "document_index")
        while len(ids) < offset + length + 1:
            ids += documents[prefixes[dataset]][order[place]]
            place += 1
        found.append(ids[offset : offset + length + 1])
    return found


@pytest.mark.parametrize("name", [needs(NAME)])
def test_the_block_of_the_page_draws_our_ids_and_they_are_learned(tmp_path: Path, name: str) -> None:
    documents, eos, vocabulary = corpus_of_the_page(tmp_path)
    code = block(NAME, "python", "GPTDataset")
    assert "vocab_size, eod = 50257, 50256" in code
    found = run(name, "megatron_lm", {"block": code.replace("50257, 50256", f"{vocabulary}, {eos}")}, tmp_path)
    (tmp_path / "own.json").write_text('{"class": "my.Tokenizer"}')
    words = [word for prefix in sorted(documents) for word in ("1", f"CORPUS/exports/pretraining/{prefix}")]
    options = "--samples 8000 --seq-length 2048 --tokenizer own.json --output ours --json"
    written = shell(tmp_path, f"corpus megatron-cache {' '.join(words)} {options}")
    caches = json.loads(written[-1])["caches"]
    assert found["samples"] == drawn(tmp_path / "ours", caches, documents, 2048, 40)
    assert found["masks"] == [[float(id_ != eos) for id_ in sample[:-1]] for sample in found["samples"][:3]]
    theirs = {file.name: file.read_bytes() for file in (tmp_path / "index-cache").iterdir()}
    assert theirs == {file.name: file.read_bytes() for file in (tmp_path / "ours").iterdir()}
    assert falls(found["losses"])


@pytest.mark.parametrize("name", [needs(NAME)])
def test_a_run_loads_what_the_command_of_the_page_wrote(tmp_path: Path, name: str) -> None:
    corpus_of_the_page(tmp_path)
    arguments = shell(tmp_path, block(NAME, "sh", "pretrain_gpt.py"))
    assert arguments[0] == "pretrain_gpt.py"
    options: dict[str, list[str]] = {}
    for word in arguments[1:]:
        if word.startswith("--"):
            values = options[word] = []
        else:
            values.append(word)
    given = {
        "words": options["--train-data-path"],
        "sizes": [int(options["--train-iters"][0]) * int(options["--global-batch-size"][0]), 0, 0],
        "length": int(options["--seq-length"][0]),
        "seed": int(options["--seed"][0]),
        "split": None,
        "part": "train",
        "cache": "theirs",
    }
    (theirs,) = run(name, "megatron_lm", {"runs": [given]}, tmp_path)
    assert theirs["said"] == [
        *["Build and save the GPTDataset train indices"] * (len(options["--train-data-path"]) // 2),
        "Build and save the BlendedDataset indices",
    ]
    shutil.copy(next((tmp_path / "theirs").glob("*-GPTDataset-train-description.txt")), tmp_path / "description.txt")
    shell(tmp_path, block(NAME, "sh", "corpus megatron-cache"))
    before = {file.name: [file.stat().st_ino, file.stat().st_mtime_ns] for file in (tmp_path / "index-cache").iterdir()}
    again = {**given, "cache": "index-cache"}
    unseen = {"fast_cache_load": True}
    ours, fast = run(name, "megatron_lm", {"runs": [again, {**again, **unseen}]}, tmp_path)
    assert {name: content for name, (content, *_) in ours["files"].items()} == {
        name: content for name, (content, *_) in theirs["files"].items()
    }
    assert {name: place for name, (_, *place) in ours["files"].items()} == before
    assert {line.partition(" ")[0] for line in ours["said"]} == {"Load"}
    assert ours["samples"] == fast["samples"] == theirs["samples"]


def described(number: int, folder: Path) -> dict[str, Any]:
    """The arguments of a random run."""
    chosen = random.Random(number)
    prefixes = [str(folder / f"set{one}") for one in chosen.sample(range(3), chosen.choice([1, 2, 3]))]
    weights = [chosen.choice(["1", "0.3", "7", "0.123"]) for _ in prefixes]
    words = prefixes if number % 3 == 0 else [word for pair in zip(weights, prefixes, strict=True) for word in pair]
    return {
        "words": words,
        "sizes": [chosen.choice([1, 100, 3000]), chosen.choice([0, 50]), 10],
        "length": chosen.choice([2, 16, 33, 128]),
        "seed": chosen.choice([0, 1234, 2**32 - 1]),
        "split": chosen.choice([None, "100,0,0", "90,10,0", "1,1,1", "100,0,0" if number % 3 == 0 else "969, 30, 1"]),
        "part": chosen.choice(PARTS),
        "cache": str(folder / f"theirs{number}"),
    }


@pytest.mark.parametrize("name", [needs(NAME)])
def test_index_files_of_random_runs_are_those_of_megatron(tmp_path: Path, name: str) -> None:
    (tmp_path / "corpus").mkdir()
    for number, documents in enumerate((1000, 1200, 1500)):
        lengths = np.random.default_rng(number).integers(number == 2, [90, 300, 6][number], documents)
        write_indexed(tmp_path / f"set{number}", lengths.tolist())
    asked = [described(number, tmp_path) for number in range(24)]
    seen: set[tuple[Any, ...]] = set()
    for theirs, given in zip(run(name, "megatron_lm", {"runs": asked}, tmp_path), asked, strict=True):
        cache = tmp_path / "ours"
        shutil.rmtree(cache, ignore_errors=True)
        written = ours(given, cache)
        digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in cache.iterdir()}
        assert digests == {file: content for file, (content, *_) in theirs["files"].items()}, given
        seen |= {(one.prefix is None, min(one.epochs or 0, 3)) for one in written}
    assert seen >= {(False, 1), (False, 2), (False, 3), (True, 0)}


def ours(given: dict[str, Any], cache: Path) -> list[Cache]:
    """Index files of a run, by our own code."""
    asked = Run(
        blend_of(given["words"]),
        given["length"],
        given["seed"],
        given["split"],
        given["part"],
        given["sizes"],
        0.005,
        TOKENIZER,
    )
    with cache_folder(cache) as folder:
        return list(write_caches(asked, folder))
