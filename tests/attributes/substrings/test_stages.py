"""Entries of `dedupers` with `kind: substrings` as assets: what they mark, and what recomputes them."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.attributes.substrings.units import tokens
from corpus_assets.config.selection.substrings import Substrings
from corpus_assets.corpus.corpus import Corpus
from resources.formats.attributes import AttributeRow, attribute_rows
from resources.formats.documents import Document
from resources.stage.partition import Partition
from tests.attributes.substrings.plain import in_code_points, repeated
from tests.build.small import Built, contents, drive, live_records, opened, write_config, write_raw, write_small

ENTRY: dict[str, Any] = {"kind": "substrings", "min_length": "16 bytes"}


def text_of(random_: random.Random) -> str:
    """A text of few letters that repeats pieces of itself and of others: some of more bytes than letters."""
    pieces = [random.Random(random_.randrange(12)).choices("ab é\n.", k=40) for _ in range(random_.randrange(6))]
    cut = ["".join(piece)[random_.randrange(20) : random_.randrange(20, 41)] for piece in pieces]
    return " ".join(["x", *cut]) + random_.choice(["", "z" * random_.randrange(70), "abcabc" * random_.randrange(14)])


def write(folder: Path, path: str, seed: int, count: int) -> None:
    random_ = random.Random(seed)
    write_raw(folder, path, [{"id": f"{path}-{n}", "text": text_of(random_)} for n in range(count)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_small(tmp_path)
    for path, seed in (("books/some.jsonl", 1), ("web/more.jsonl", 2), ("web/third.jsonl", 3)):
        write(tmp_path, path, seed, 30)
    return tmp_path


def built(folder: Path, entry: Mapping[str, Any], **changes: Any) -> tuple[Corpus, Built]:
    values = {"dedupers": [entry], "dedup.ranges": 3, **{key.replace("__", "."): v for key, v in changes.items()}}
    write_config(folder, values)
    corpus = opened(folder)
    done = drive(corpus, corpus.graph.select(["+substrings_attributes"]))
    assert (done.failed, done.waiting) == ([], [])
    return corpus, done


def partitions(corpus: Corpus, asset: str) -> list[Partition]:
    records = live_records(corpus)
    return [Partition(corpus.storage, record) for (name, _), record in records.items() if name == asset]


def documents(corpus: Corpus) -> list[Document]:
    return [document for shard in partitions(corpus, "normalized_documents") for document in shard.documents()]


def rows(corpus: Corpus) -> list[AttributeRow]:
    return [row for shard in partitions(corpus, "substrings_attributes") for row in attribute_rows(shard.lines())]


def expected(texts: list[str], entry: Mapping[str, Any]) -> list[dict[str, list[tuple[int, int, float]]]]:
    """The attributes of texts by definition."""
    rule = Substrings.model_validate(entry)
    found: list[dict[str, list[tuple[int, int, float]]]] = [{} for _ in texts]
    keys = {rule.key: {"keep": rule.keep}}
    if rule.boilerplate is not None:
        keys[rule.boilerplate_key] = {"more_than": rule.boilerplate}
    for key, how in keys.items():
        for place, spans in enumerate(by_definition(texts, rule, how)):
            if spans:
                found[place][key] = [(start, end, 1.0) for start, end in spans]
    return found


def by_definition(texts: list[str], rule: Substrings, how: Mapping[str, Any]) -> list[list[tuple[int, int]]]:
    if rule.unit == "bytes":
        units = repeated([text.encode() for text in texts], rule.length, **how)
        return [in_code_points(text, spans) for text, spans in zip(texts, units, strict=True)]
    edges = [[0, *tokens(text).tolist()] for text in texts]
    cut = [[text[a:b] for a, b in zip(ends, ends[1:], strict=False)] for text, ends in zip(texts, edges, strict=True)]
    found = repeated(cut, rule.length, **how)
    return [[(ends[a], ends[b]) for a, b in spans] for ends, spans in zip(edges, found, strict=True)]


@pytest.mark.parametrize(
    "entry",
    [
        ENTRY,
        {**ENTRY, "keep": "none"},
        {**ENTRY, "boilerplate": 3},
        {**ENTRY, "boilerplate": 2, "keep": "none", "min_length": "20 bytes"},
        {**ENTRY, "min_length": "4 tokens"},
        {**ENTRY, "min_length": "33 bytes"},
    ],
    ids=str,
)
def test_rows_are_those_of_the_definition(folder: Path, entry: dict[str, Any]) -> None:
    corpus, _ = built(folder, entry)
    given, found = documents(corpus), rows(corpus)
    assert [(row.id, row.source) for row in found] == [(document.id, document.source) for document in given]
    assert [row.attributes for row in found] == expected([document.text for document in given], entry)
    assert sum(bool(row.attributes) for row in found) > 10
