"""Ragged arrays of Birch-san/pre-tokenize made again from a corpus.yaml: our files are its files, byte for byte."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus_assets.corpus.corpus import Corpus
from tests.data.building import build, open_corpus
from tests.golden import GOLDEN, shared
from tests.golden.files import row_files

SET = GOLDEN / "ragged"
FOLDERS = sorted(folder.name for folder in SET.glob("*") if re.fullmatch(r"out|wrap(bos)?\d+", folder.name))


def inputs() -> dict[str, str]:
    """The pattern of the input files of each split, by the name with which its output begins (`c4-train`)."""
    names = (file.name.partition(".")[0] for file in row_files(shared("golden", "ragged", "in")))
    return {prefix: f"{prefix}.*" for prefix in sorted(set(names))}


def options_of(folder: str) -> dict[str, Any]:
    """The options that made a folder: `out`, `wrap<length>`, `wrapbos<length>`."""
    found = re.fullmatch(r"wrap(bos)?(\d+)", folder)
    if found is None:
        return {}
    return {"context_length": int(found[2]), **({"bos_id": 0} if found[1] else {})}


def dataset_of(prefix: str, glob: str, folder: str) -> dict[str, Any]:
    location = str(shared("golden", "ragged", "in"))
    files = {"location": location, "glob": glob, "ids": "derived"}
    name = prefix.partition("-")[2]
    return {"name": name, "format": "ragged", "input": files, "prefix": prefix, **options_of(folder)}


def made(folder: str, path: Path, place: Path | None = None, **options: Any) -> Corpus:
    """The corpus of a golden folder, built. place: the folder of its tokenizer, by default that of the set."""
    place = place or shared("golden", "ragged", "tokenizer")
    tokenizer = {"kind": "huggingface", "path": str(place), "special_tokens_in_text": True}
    datasets = [{**dataset_of(prefix, glob, folder), **options} for prefix, glob in inputs().items()]
    corpus = open_corpus(path, {"sources": [], "datasets": datasets, "tokenizer": tokenizer})
    build(corpus)
    return corpus


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_of_the_original(folder: str, tmp_path: Path) -> None:
    made(folder, tmp_path, compat="pre_tokenize")
    found = {file.relative_to(tmp_path / "corpus" / "exports"): file for file in tmp_path.rglob("exports/*/*.npy")}
    wanted = {file.relative_to(SET / folder): file for file in (SET / folder).rglob("*.npy")}
    assert wanted
    assert found.keys() == wanted.keys()
    for name, file in wanted.items():
        assert found[name].read_bytes() == file.read_bytes(), name


@pytest.mark.parametrize("folder", FOLDERS)
def test_sane_types_hold_the_same_rows(folder: str, tmp_path: Path) -> None:
    """Files have the numbers of their places, and T5 is what its settings say: pre-tokenize reads it so."""
    place = tmp_path / "tokenizer"
    shutil.copytree(shared("golden", "ragged", "tokenizer"), place)
    settings = json.loads((place / "tokenizer_config.json").read_text())
    (place / "tokenizer_config.json").write_text(json.dumps({**settings, "legacy": False}))
    made(folder, tmp_path, place)
    files = sorted((SET / folder).rglob("*.npy"))
    for file, ours in zip(files, sorted(tmp_path.rglob("exports/*/*.npy")), strict=True):
        found = np.load(ours)
        assert found.dtype == (np.int32 if file.name.endswith(".len.npy") else np.uint16)
        np.testing.assert_array_equal(found, np.load(file))
