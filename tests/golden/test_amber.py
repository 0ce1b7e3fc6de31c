"""Runs of amber-data-prep again, from a corpus.yaml with their options: our files equal its files byte for byte.

The options of a conversion are those that the README of the golden set names; a mix is described by its `mix.json`, and
is one of the conversion that has its windows. A set of a mix is made of the subsets that have its name in theirs:
languages of starcoderdata are one set. Each worker of a conversion had every n-th file and a stream of its own,
and gave its windows in groups of 512, in turn.
"""

import json
import re
from collections.abc import Sequence
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from corpus_assets.corpus.corpus import Corpus
from tests.data.building import build, open_corpus
from tests.golden import GOLDEN, shared
from tests.golden.files import content, plain_name, row_files, rows

SET = GOLDEN / "amber"
CONVERSIONS = sorted(path.name for path in SET.glob("converted*"))
MIXES = sorted(path.parent.name for path in SET.glob("*/mix.json"))
GROUP = 512
"""Windows that a worker gives in its turn."""


@cache
def said_of(conversion: str) -> str:
    """The line of the README that names a conversion; empty if there is none."""
    lines = shared("golden", "amber", "README.md").read_text(encoding="utf-8").split("\n")
    return next((line for line in lines if re.search(rf"{re.escape(conversion)}(?![A-Za-z0-9_])", line)), "")


@cache
def options(conversion: str) -> dict[str, Any]:
    """The options of a conversion, as the README quotes them; else as its name says."""
    text = said_of(conversion)
    window = re.findall(r"--concat_tokens[ =](\d+)", text) or re.findall(r"\d+", conversion)
    found: dict[str, Any] = {"window": int(window[0]), "wrap": "--no_wrap" not in text and "wrap" not in conversion}
    for kind, usual in (("bos", "<s>"), ("eos", "</s>")):
        if quoted := re.findall(rf"--{kind}_text[ =]['\"]?([^'\"`\s]+)", text):
            found[f"{kind}_text"] = quoted[0]
        elif not text and kind in conversion:
            found[f"{kind}_text"] = usual
    return found


@cache
def workers(conversion: str) -> int:
    """The number of workers of a conversion, said as its options are; 1 if nothing is said."""
    said = re.findall(r"--num_workers[ =](\d+)", said_of(conversion)) or re.findall(r"(?:w|workers)_?(\d+)", conversion)
    return int(said[0]) if said else 1


@cache
def mix(name: str) -> dict[str, Any]:
    """What the `mix.json` of a mix says."""
    found: dict[str, Any] = json.loads((SET / name / "mix.json").read_bytes())
    return found


@cache
def converted_files(conversion: str) -> dict[str, Path]:
    """The file of each subset that was converted, by the path of the subset."""
    root = SET / conversion
    return {str(file.parent.relative_to(root)): file for file in row_files(root)}


@cache
def mixes_of(conversion: str) -> list[str]:
    """The mixes whose windows are those of a conversion."""
    known = {tuple(row["token_ids"]) for file in converted_files(conversion).values() for row in rows(file)}
    return [
        name
        for name in MIXES
        if all(tuple(row["token_ids"]) in known for file in row_files(SET / name / "train") for row in rows(file))
    ]


def dataset_name(subset: str, worker: int = 0) -> str:
    """A name for the dataset of what a worker made of a subset."""
    return f"{re.sub(r'[^a-z0-9]+', '_', subset.lower())}-{worker}"


def text_key(file: Path) -> str:
    """The key of texts in a file."""
    names = pq.read_schema(file).names if file.suffix == ".parquet" else rows(file)[0]
    return "text" if "text" in names else "content"


@cache
def shares(conversion: str, subset: str) -> list[list[Path]]:
    """The files of a subset by worker; workers without a file are stopped."""
    folder = shared("golden", "amber", "input", *subset.split("/"))
    files = sorted(file for file in folder.iterdir() if file.is_file())
    count = min(workers(conversion), len(files))
    return [files[worker::count] for worker in range(count)]


def converted(conversion: str, subset: str) -> list[dict[str, Any]]:
    """The datasets that hold the windows of a subset in order, one for each worker."""
    return [
        {
            **{"name": dataset_name(subset, worker), "format": "amber", "compat": "amber", "chunks": 1},
            "source": subset,
            "input": {
                "location": str(share[0].parent),
                "glob": [file.name for file in share],
                "text_key": text_key(share[0]),
            },
            **options(conversion),
        }
        for worker, share in enumerate(shares(conversion, subset))
    ]


def mixed(conversion: str, name: str) -> dict[str, Any]:
    """The dataset that mixes all subsets."""
    said = mix(name)
    return {
        **{"name": name, "format": "amber", "compat": "amber", "chunks": said["num_split"]},
        **{"validation": said["num_valid_samples_per_subfolder"], "seed": said["random_seed"]},
        "input": [
            {
                "source": source,
                "datasets": [
                    dataset["name"]
                    for subset in converted_files(conversion)
                    if source in subset
                    for dataset in converted(conversion, subset)
                ],
            }
            for source in said["order"].split(",")
        ],
        **options(conversion),
    }


@cache
def built(conversion: str, folder: Path) -> Corpus:
    """The corpus of all subsets of a conversion, and of their mixes."""
    tokenizer = {"kind": "huggingface", "path": str(shared("golden", "amber", "tokenizer"))}
    subsets = (converted(conversion, subset) for subset in converted_files(conversion))
    values = {
        "tokenizer": {**tokenizer, "special_tokens_in_text": True},
        "datasets": [
            *(dataset for subset in subsets for dataset in subset),
            *(mixed(conversion, name) for name in mixes_of(conversion)),
        ],
        "mix": {"chunks": 3},
    }
    corpus = open_corpus(folder / conversion, values)
    build(corpus)
    return corpus


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the corpora of all conversions are built."""
    return tmp_path_factory.mktemp("amber")


def made(corpus: Corpus, path: str) -> bytes:
    """A file that was written."""
    with corpus.storage.open(f"exports/{path}") as file:
        return file.read()


def by_turns(windows: Sequence[list[bytes]]) -> list[bytes]:
    """The windows of all workers, a group of each in turn."""
    groups = ([given[first : first + GROUP] for first in range(0, len(given), GROUP)] for given in windows)
    return [line for turn in zip_longest(*groups, fillvalue=[]) for group in turn for line in group]


def test_every_mix_is_one_of_a_conversion() -> None:
    assert {name for conversion in CONVERSIONS for name in mixes_of(conversion)} == {*MIXES}


@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_windows_are_those_of_the_original(conversion: str, folder: Path) -> None:
    corpus = built(conversion, folder)
    assert converted_files(conversion)
    for subset, file in converted_files(conversion).items():
        names = [dataset["name"] for dataset in converted(conversion, subset)]
        windows = [made(corpus, f"{name}/train/train_0.jsonl").splitlines(keepends=True) for name in names]
        assert b"".join(by_turns(windows)) == content(file), subset


@pytest.mark.parametrize("part", ["train", "valid"])
@pytest.mark.parametrize(
    ("conversion", "name"), [(conversion, name) for conversion in CONVERSIONS for name in mixes_of(conversion)]
)
def test_mixed_files_are_those_of_the_original(conversion: str, name: str, part: str, folder: Path) -> None:
    files = row_files(SET / name / part)
    assert files
    for file in files:
        assert made(built(conversion, folder), f"{name}/{part}/{plain_name(file)}") == content(file), file.name


@pytest.mark.parametrize(
    ("conversion", "name"), [(conversion, name) for conversion in CONVERSIONS for name in mixes_of(conversion)]
)
def test_nothing_else_was_written_and_sets_are_shared_out_as_the_original_counts(
    conversion: str, name: str, folder: Path
) -> None:
    corpus, root = built(conversion, folder), SET / name
    found = {entry.path.removeprefix(f"exports/{name}/") for entry in corpus.storage.entries(f"exports/{name}")}
    files = {str(file.relative_to(root).with_name(plain_name(file))) for file in row_files(root)} - {"mix.json"}
    assert found == {*files, "manifest.json", "sets.json"}
    drawn = mix(name)["num_valid_samples_per_subfolder"]
    sets = json.loads(made(corpus, f"{name}/sets.json"))
    assert [(one["source"], one["windows"], one["used"], one["unused"], one["validation"]) for one in sets] == [
        (one["subfolder"], one["lines"], one["used"], one["unused_tail"], drawn) for one in mix(name)["subsets"]
    ]
