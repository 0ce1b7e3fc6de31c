"""Files that trainers read as plain arrays, by the blocks of their pages; and datatrove's."""

import json
import os
import subprocess
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.export.exported import encoded, exported, manifest_of, stream_of, tokenizer_of
from tests.export.readers.environments import block, blocks, needs, run
from tests.export.readers.trained import falls
from tests.export.test_mds import cut

NAME = "arrays"
SMALL = {"llm.c": {"shard_ids": 600}}
STUB = 'python() { printf "%s\\n" "$@"; }; '


def made(folder: Path, page: str) -> tuple[Any, int]:
    """The corpus of a page, and its end-of-text id. CORPUS leads to it."""
    datasets = yaml.safe_load(blocks(page, "yaml")[0])["datasets"]
    corpus = exported(folder, *({**one, **SMALL.get(page, {})} for one in datasets))
    eos = tokenizer_of(corpus).eos_id
    assert eos is not None
    (folder / "CORPUS").symlink_to(folder / "corpus", target_is_directory=True)
    return corpus, eos


@pytest.mark.parametrize("name", [needs(NAME)])
def test_nanogpt(tmp_path: Path, name: str) -> None:
    corpus, eos = made(tmp_path, "nanogpt")
    found = run(name, NAME, {"block": block("nanogpt", "python", "np."), "names": ["ids"], "learn": "ids"}, tmp_path)
    stream = [*chain.from_iterable(stream_of(corpus, eos).values())]
    assert found["ids"] == stream
    assert falls(found["losses"])
    code = STUB + block("nanogpt", "sh", "train.py")
    said = subprocess.run(
        ["bash", "-ec", code], cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert said.stdout.split() == ["train.py", "--dataset=books"]
    linked = block("nanogpt", "python", "np.").replace("CORPUS/exports/books/train.bin", "data/books/train.bin")
    assert run(name, NAME, {"block": linked, "names": ["ids"], "learn": "ids"}, tmp_path)["ids"] == stream
    assert (tmp_path / "data/books/val.bin").exists()


@pytest.mark.parametrize("name", [needs(NAME)])
def test_llm_c(tmp_path: Path, name: str) -> None:
    corpus, eos = made(tmp_path, "llm.c")
    stream = [id_ for of in encoded(corpus).values() for ids in of for id_ in (eos, *ids)]
    found = run(
        name, NAME, {"block": block("llm.c", "python", "np."), "names": ["ids", "magic"], "learn": "ids"}, tmp_path
    )
    assert (found["magic"], found["ids"]) == (20240520, stream[:600])
    assert falls(found["losses"])
    patterns: dict[str, Any] = {}
    exec(block("llm.c", "python", "train_files"), patterns)
    program = block("llm.c", "sh", "train_gpt2cu").split()
    for option, key in (("-i", "train_files"), ("-j", "val_files")):
        assert program[program.index(option) + 1].strip('"') == patterns[key]
    train, validation = (run(name, NAME, {"pattern": patterns[key]}, tmp_path) for key in ("train_files", "val_files"))
    assert [id_ for shard in train for id_ in shard["ids"]] == stream
    assert [len(shard["ids"]) for shard in train[:-1]] == [600] * (len(train) - 1)
    assert validation[0]["ids"][0] == eos


@pytest.mark.parametrize("name", [needs(NAME)])
@pytest.mark.parametrize("header", ["gpt2", "automodel"])
def test_nemo_automodel(tmp_path: Path, name: str, header: str) -> None:
    settings = yaml.safe_load(blocks("llm.c", "yaml")[0])["datasets"]
    corpus = exported(tmp_path, {**settings[0], "header": header})
    eos = tokenizer_of(corpus).eos_id
    assert eos is not None
    assert manifest_of(corpus, "fineweb")["separator"]["id"] == eos
    (given,) = yaml.safe_load(block("llm.c", "yaml", "NanogptDataset")).values()
    assert given.pop("_target_").endswith(".NanogptDataset")
    assert (given["seq_len"], given["bos_token"]) == (1024, 50256)
    found = run(name, NAME, {"arguments": {**given, "seq_len": 32, "bos_token": eos}, "rows": 12}, tmp_path)
    stream = [id_ for of in encoded(corpus).values() for ids in of for id_ in (eos, *ids)]
    place, expected = 0, list[dict[str, list[int]]]()
    while len(expected) < 12:
        expected.append({"input_ids": stream[place : place + 32], "labels": stream[place + 1 : place + 33]})
        place = stream.index(eos, place + 33)
    assert found["rows"] == expected
    assert falls(found["losses"])


@pytest.mark.parametrize("name", [needs(NAME)])
def test_ragged(tmp_path: Path, name: str) -> None:
    corpus, _ = made(tmp_path, "ragged")
    given = {"block": block("ragged", "python", "np."), "names": ["document"], "learn": "data"}
    found = run(name, NAME, given, tmp_path)
    assert found["document"] == next(iter(encoded(corpus).values()))[7]
    assert falls(found["losses"])


@pytest.mark.parametrize("name", [needs("datatrove")])
def test_datatrove(tmp_path: Path, name: str) -> None:
    corpus, eos = made(tmp_path, "datatrove")
    code = block("datatrove", "python", "DatatroveFolderDataset")
    assert ", 2048, " in code
    found = run(name, "trove", {"block": code.replace("2048", "32")}, tmp_path)
    rows, positions = [], []
    for of in encoded(corpus).values():
        documents = [[*ids, eos] for ids in of]
        rows += cut([id_ for document in documents for id_ in document], 33)
        for window in cut([place for document in documents for place in range(len(document))], 33):
            first = window.index(0) if 0 in window else len(window)
            positions.append([*range(first), *window[first:]])
    assert (found["rows"], found["positions"]) == (rows, positions)
    assert falls(found["losses"])
    with pytest.raises(AssertionError, match="No files matching"):
        run(name, "trove", {"block": code.replace('"*.ds"', '"CORPUS/exports/trove/*.ds"')}, tmp_path)


@pytest.mark.parametrize("name", [needs("hugging-face")])
def test_amber(tmp_path: Path, name: str) -> None:
    (settings,) = yaml.safe_load(blocks("amber", "yaml")[0])["datasets"]
    settings |= {"eos_text": "<|endoftext|>", "validation": 2, "window": 33, "chunks": 3}
    corpus = exported(tmp_path, settings)
    folder = tmp_path / "corpus/exports/amber/train"
    lines = [json.loads(line)["token_ids"] for file in sorted(folder.glob("*.jsonl")) for line in file.open()]
    code = block("amber", "python", "load_dataset")
    loop = code.replace("    inputs, labels =", "    read.append(ids)\n    inputs, labels =")
    given: dict[str, Any] = {"block": f"read = []\n{loop}", "names": ["read", "inputs", "labels"], "learn": "stream"}
    given["block"] += "\nimport numpy as np\nstream = np.concatenate(read)\n"
    found = run(name, NAME, given, tmp_path)
    assert found["read"] == lines
    assert (found["inputs"], found["labels"]) == (lines[-1][:-1], lines[-1][1:])
    assert falls(found["losses"])
    told: dict[str, Any] = {}
    exec(block("amber", "python", "TRAIN_DATA_DIR"), told)
    assert (tmp_path / told["TRAIN_DATA_DIR"]).is_dir()
    units = {file["path"]: file["units"] for file in manifest_of(corpus, "amber")["files"] if "units" in file}
    assert {path for path in units if path.startswith("train/")} == {f"train/train_{n}.jsonl" for n in range(3)}
    assert [units[f"train/train_{n}.jsonl"] for n in range(3)] == [len(lines) // 3] * 3
