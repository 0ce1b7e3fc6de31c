"""Real documents: every item that was planted in one is found, and none in 10,000 without a plant."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from corpus_assets.raw.readers import RowRules
from resources.formats.documents import Document
from tests.build.small import write_raw
from tests.contamination.planted import FACTS, configure, marked, searched, shares, write_items
from tests.data.test_shared_corpus import sources
from tests.golden import shared
from tests.raw.test_shared_data import read_set

DOCUMENTS = 10_000
SETS = {"wiki", "books", "man", "code", "licenses", "qa", "web"}
EACH = 40
CHANGES: dict[str, Callable[[str], str]] = {
    "exact": lambda text: text,
    "respaced": lambda text: "\n \n".join(text.split(" ")),
    "recased": str.swapcase,
    "repunctuated": lambda text: text.replace(".", " !?").replace(",", ";").replace("-", "—").replace("'", "’"),
    "partial": lambda text: " ".join(text.split()[: -(-len(text.split()) * 6 // 10)]),
}


def real_texts() -> list[str]:
    rows = read_set(shared("data"), "dolma/documents/books/0000.jsonl.gz", RowRules("books"))
    return [row.text for row in rows if isinstance(row, Document)]


def items(texts: list[str], count: int) -> Iterator[str]:
    """Questions of 13 to 80 words as they stand in real texts, three at a time in a row."""
    chance = random.Random("items")
    pieces = [text.split() for text in texts]
    for number in range(count):
        words = chance.randint(25, 80) if number % len(CHANGES) == len(CHANGES) - 1 else chance.randint(13, 80)
        found: list[str] = []
        while len(found) < words:
            piece = chance.choice(pieces)
            start = chance.randrange(max(1, len(piece) - 3))
            found += piece[start : start + 3]
        yield " ".join(found[:words])


@pytest.mark.slow
def test_all_plants_are_found_and_nothing_else(tmp_path: Path) -> None:
    texts = real_texts()
    questions = list(items(texts, EACH * len(CHANGES)))
    rows = []
    for number, question in enumerate(questions):
        name, change = list(CHANGES.items())[number % len(CHANGES)]
        text = texts[number % len(texts)]
        middle = text.find(" ", len(text) // 2)
        rows.append({"id": f"{name} {number}", "text": f"{text[:middle]} {change(question)} {text[middle:]}"})
    write_raw(tmp_path, "planted/rows.jsonl", rows)
    write_items(tmp_path, "facts/test.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(questions)])
    planted = {"name": "planted", "location": "raw/planted"}
    corpus = configure(tmp_path, [FACTS], sources=[planted, *sources(SETS)])
    searched(corpus)
    found = {name: shares(row) for name, (_, row) in marked(corpus).items() if row.items}
    for row in rows:
        kind, item = row["id"].split()
        (share,) = (value for key, value in found.pop(row["id"]).items() if key == item)
        assert 0.55 < share < 0.7 if kind == "partial" else share == 1.0
    assert found == {}
    assert sum(record.statistics["rows_out"] for record in corpus.ledger.records("benchmark_hits").values()) > DOCUMENTS
