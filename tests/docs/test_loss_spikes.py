"""The page about loss spikes: its blocks run, and those about trainers name the rows that hold the ids of a sample."""

import csv
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest

from corpus_assets.raw.sample.writing import write_sample
from docs.generate import FOLDER
from tests.build.small import opened
from tests.docs.test_docs import ROOT
from tests.export.exported import exported, folder_of, stream_of, tokenizer_of
from tests.export.test_megatron import read_indexed
from tests.export.test_trace import traced
from tests.forked import path_of_commands

PAGE = (FOLDER / "loss-spikes.md").read_text(encoding="utf-8")
OWN, OTHERS = PAGE.split("## Other trainers")


def blocks(text: str) -> list[tuple[str, str]]:
    """Language and content of each block of code."""
    return re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL)


def block_of(title: str) -> str:
    """The Python block below a heading."""
    (code,) = (code for kind, code in blocks(OTHERS.split(f"### {title}\n")[1].split("\n### ")[0]) if kind == "python")
    return code


@pytest.mark.slow
def test_from_a_spike_to_a_corpus_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("corpus.yaml", "dagster.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    write_sample(tmp_path / "data" / "raw", megabytes=1)
    monkeypatch.chdir(tmp_path)
    environment = {**os.environ, "PATH": path_of_commands(), "DAGSTER_HOME": str(tmp_path / ".dagster_home")}
    environment.pop("CORPUS_CONFIG", None)
    names: dict[str, Any] = {}
    for kind, code in [("sh", "corpus build"), *blocks(OWN)]:
        if kind == "python":
            exec(code, names)
            continue
        done = subprocess.run(["bash", "-ec", code], check=False, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{code}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    taken = {piece.origin.id for piece in names["pieces"]}
    later = type(names["stream"]).of_corpus("corpus.yaml", "decontaminated_train")
    assert taken & {names["stream"].origin(n).id for n in range(len(names["stream"]))} == taken
    assert not taken & {later.origin(n).id for n in range(len(later))}
    losses = np.array(names["losses"])
    assert losses[names["step"], names["window"]] == losses[10:].max()


def run(title: str, capsys: pytest.CaptureFixture[str], names: dict[str, Any], changes: dict[str, str]) -> list[str]:
    """What the block below a heading prints."""
    code = block_of(title)
    for old, new in changes.items():
        assert old in code
        code = code.replace(old, new)
    capsys.readouterr()
    exec(code, names)
    return capsys.readouterr().out.splitlines()


def write_index(cache: Path, prefix: str, described: dict[str, Any], **arrays: Any) -> None:
    """Files of Megatron's cache, as BlendedDataset and GPTDataset name them."""
    (cache / f"{prefix}-train-description.txt").write_text(json.dumps(described))
    for name, array in arrays.items():
        np.save(cache / f"{prefix}-train-{name}_index.npy", array)


def test_megatron(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of index files as megatron-core 0.16.1 makes them: documents in another order, samples of 33 ids, shuffled."""
    exported(tmp_path, {"name": "megatron", "format": "megatron"})
    cache, chance = tmp_path / "cache", np.random.default_rng(4)
    cache.mkdir()
    paths, expected = [], []
    for number, file in enumerate(sorted(folder_of(tmp_path, "megatron").glob("*.bin"))):
        documents = read_indexed(file.with_suffix(""))
        order = chance.permutation(len(documents))
        ids = np.concatenate([documents[place] for place in order])
        begins = np.concatenate([[0], np.cumsum([len(documents[place]) for place in order])])
        starts = np.arange(0, len(ids) - 32, 32)
        held = np.searchsorted(begins, starts, side="right") - 1
        shuffle = chance.permutation(len(starts) - 1)
        paths.append({"class": "GPTDataset", "dataset_path": str(file.with_suffix(""))})
        arrays = {"document": order, "sample": np.stack([held, starts - begins[held]], axis=1), "shuffle": shuffle}
        write_index(cache, f"{number:032x}-GPTDataset", paths[-1], **arrays)
        expected.append([ids[starts[place] : starts[place] + 33] for place in shuffle])
    of = np.arange(30) % len(paths)
    within = np.arange(30) // len(paths) % min(map(len, expected))
    blend = {"class": "BlendedDataset", "datasets": paths}
    write_index(cache, "f" * 32 + "-BlendedDataset", blend, dataset=of, dataset_sample=within)
    for sample in range(30):
        names: dict[str, Any] = {}
        given = {"/scratch/index-cache": str(cache), "1234 * 256 + 17": str(sample)}
        (line,) = run("Megatron-LM", capsys, names, given)
        assert line.startswith(f"{names['path']}.bin: rows {names['rows']}")
        documents = read_indexed(Path(names["path"]))
        ids = np.concatenate([documents[row] for row in names["rows"]])[names["position"] :][:33]
        assert ids.tolist() == expected[of[sample]][within[sample]].tolist()


def test_olmo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported(tmp_path, {"name": "olmo", "format": "olmo"})
    paths = [str(path) for path in sorted(folder_of(tmp_path, "olmo").glob("*.npy"))]
    files = [np.fromfile(path, np.uint16) for path in paths]
    ends = np.cumsum([len(ids) // 16 for ids in files]).tolist()
    offsets = [*zip([0, *ends[:-1]], ends, strict=True)]
    order = np.random.default_rng(2).permutation(ends[-1])
    loader = SimpleNamespace(reshuffle=lambda epoch: None, get_global_indices=lambda: order, global_batch_size=4 * 16)
    names = {
        "loader": loader,
        "dataset": SimpleNamespace(sequence_length=16, offsets=offsets),
        "paths": paths,
        "step": 3,
    }
    lines = run("OLMo-core", capsys, names, {})
    assert len(lines) == 4
    windows = [ids[at : at + 16] for ids in files for at in range(0, len(ids) - 15, 16)]
    for line, sample in zip(lines, order[8:12], strict=True):
        path, row, position = re.findall(r"(.*): row (\d+), position (\d+),", line)[0]
        begin = int(_table(path)[int(row)][0]) + int(position)
        assert np.fromfile(path, np.uint16)[begin : begin + 16].tolist() == windows[sample].tolist()


def _table(path: str) -> list[list[str]]:
    with gzip.open(path.removesuffix(".npy") + ".csv.gz", "rt", newline="") as table:
        return [*csv.reader(table)]


def test_hugging_face(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for torch's permutation, which transformers' order is (tried with the versions on the page)."""
    entry = {"name": "huggingface", "format": "parquet", "sequence_length": 32}
    corpus = exported(tmp_path, entry)
    orders = {seed: np.random.default_rng(seed).permutation(30) for seed in (42, 43)}
    torch = ModuleType("torch")
    seeded = SimpleNamespace(manual_seed=lambda seed: seed)
    torch.__dict__.update(Generator=lambda: seeded, randperm=lambda rows, generator: orders[generator][:rows])
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.chdir(tmp_path / "corpus")
    stream = stream_of(corpus, tokenizer_of(corpus).eos_id)
    windows = [ids[at : at + 32] for ids in stream.values() for at in range(0, len(ids) - 31, 32)]
    for sample in (0, 29, 30, 44):
        (line,) = run("Hugging Face: Trainer", capsys, {"sample": sample, "rows": 30, "seed": 42}, {})
        _, _, name, file, row = line.split()
        assert name == "huggingface"
        expected = windows[orders[42 + sample // 30][sample % 30]]
        assert parquet.read_table(file)["input_ids"][int(row)].as_py() == expected


def test_one_list_of_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    exported(tmp_path, {"name": "nanogpt", "format": "nanogpt"})
    monkeypatch.chdir(tmp_path / "corpus")
    ids = np.fromfile("exports/nanogpt/train.bin", np.uint16)
    tokenizer = tokenizer_of(opened(tmp_path))
    for place in (0, 777, len(ids) - 1):
        (line,) = run("One list of ids", capsys, {"place": place}, {})
        found = traced(tmp_path, *line.split()[2:])
        shown = "" if ids[place] == tokenizer.eos_id else tokenizer.decode(ids[place : place + 1])
        assert found["token"] == shown
        before = ids[max(0, place - 4) : place]
        assert place == 0 or tokenizer.decode(before[-1:]) in found["before"]
