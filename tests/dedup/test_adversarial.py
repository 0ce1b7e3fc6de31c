"""Inputs made to hurt: the stages of deduplication take them in, quickly and in bounded memory."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.dedup.signatures.minhash import featureless, sign, sign_and_sketch
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from resources.formats.attributes import flags_of
from resources.formats.texts import batches
from resources.stage.partition import Partition
from tests.build.small import drive, opened

MILLION = 1_000_000
FLOOD = "e" + "\u0301" * 200_000
HOSTILE = {
    "empty": "",
    "spaces": " \n\t \u3000" * 50,
    "punctuation": "?!" * 500,
    "one shingle": "a" * 13,
    "one shingle, many times": "ab" * 50_000,
    "flood": FLOOD,
    "flood again": FLOOD,
    "long": "The quick brown fox jumps over the lazy dog. " * 230_000,
    "nul": "a\x00b" * 100,
    "astral": "\U0001f600\U0001f4a9" * 300,
    "sigma": "ΟΔΥΣΣΕΥΣ ΟΔΥΣΣΕΥΣ " * 40,
}


def write_corpus(folder: Path, rows: list[dict[str, str]], **values: Any) -> Path:
    (folder / "raw").mkdir(parents=True)
    lines = (json.dumps(row) + "\n" for row in rows)
    with gzip.open(folder / "raw/rows.jsonl.gz", "wt", compresslevel=1, encoding="utf-8") as file:
        file.writelines(lines)
    config: dict[str, Any] = {
        "sources": [{"name": "rows", "location": "raw"}],
        "engine": {"workers": 0, "memory": "256 MiB"},
        "storage": {"sync": False},
        "short_documents": {"threshold": 0},
        "dedup": {"max_loss": 1.0},
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config | values), encoding="utf-8")
    return folder


def duplicates(folder: Path) -> tuple[Corpus, list[bool]]:
    """Everything up to the duplicates, built."""
    corpus = opened(folder)
    built = drive(corpus, corpus.graph.select(["+duplicates"]))
    assert not built.failed
    (record,) = corpus.ledger.records("duplicates").values()
    return corpus, list(flags_of(Partition(corpus.storage, record).lines()))


@pytest.mark.parametrize("family", ["affine32", "legacy", "oph"])
def test_hostile_texts(tmp_path: Path, family: str) -> None:
    rows = [{"id": name, "text": text} for name, text in HOSTILE.items()]
    folder = write_corpus(tmp_path, rows, minhash={"family": family})
    _, marks = duplicates(folder)
    assert [name for name, mark in zip(HOSTILE, marks, strict=True) if mark] == ["flood again"]


def test_nothing_but_empty_texts(tmp_path: Path) -> None:
    rows = [{"id": str(number), "text": ""} for number in range(50)]
    corpus, marks = duplicates(write_corpus(tmp_path, rows))
    assert marks == [False] + [True] * 49
    for record in corpus.ledger.records("duplicate_pairs").values():
        assert record.statistics["pairs"] == 0


def test_empty_texts_are_nobodys_copies_without_the_exact_pass(tmp_path: Path) -> None:
    rows = [{"id": str(number), "text": ""} for number in range(50)]
    _, marks = duplicates(write_corpus(tmp_path, rows, dedup={"exact_first": False}))
    assert not any(marks)


def test_lone_surrogates_and_texts_without_a_shingle_can_be_signed() -> None:
    texts = ["\ud800" * 20, "a\udfffb" * 10, "", "short", "\ud800" * 20]
    (signatures,) = sign(texts, SignatureScheme())
    assert featureless(signatures).tolist() == [False, False, True, True, False]
    assert np.array_equal(signatures[0], signatures[4])
    ((again, sketches),) = sign_and_sketch(batches(texts, 1024), SignatureScheme(), 1024)
    assert np.array_equal(again, signatures)
    assert not sketches[2:4].any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exact_first", "number"),
    [(True, MILLION // 10), (False, MILLION // 20), pytest.param(True, MILLION, marks=pytest.mark.minutes)],
)
def test_equal_documents_without_end(tmp_path: Path, exact_first: bool, number: int) -> None:
    """With the exact pass there is one star of equal texts; without it one bucket of all of them in every band."""
    text = "All the same, a million times over, and then some more."
    rows = [{"id": str(place), "text": text} for place in range(number)]
    folder = write_corpus(tmp_path, rows, dedup={"exact_first": exact_first, "max_loss": 1.0})
    corpus, marks = duplicates(folder)
    assert not marks[0]
    assert sum(marks) == number - 1
    (components,) = corpus.ledger.records("components").values()
    assert components.statistics["largest"] == number
    pairs = [record.statistics["pairs"] for record in corpus.ledger.records("duplicate_pairs").values()]
    assert max(pairs) == (0 if exact_first else 2 * number - 3)
