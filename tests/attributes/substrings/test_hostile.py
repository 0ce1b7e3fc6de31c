"""Texts that repeat themselves, or share a piece with all others: equal to the definition with little memory."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.attributes.substrings.test_stages import ENTRY, KEY, built, documents, expected, rows
from tests.build.small import write_raw, write_small

COMMON = "All of these pages end with the same fifty bytes or more."
LENGTH = 32


def lines(random_: random.Random) -> list[str]:
    return ["\n".join(random_.choices(["same line", "other"], [9, 1], k=90)) for _ in range(20)]


def ends(random_: random.Random) -> list[str]:
    """One k-gram before and behind hundreds of others: more than fit in memory at once."""
    return [f"{random_.random()}{COMMON}{random_.random()}" for _ in range(300)]


def letters(random_: random.Random) -> list[str]:
    return [random_.choice("ab") * random_.randrange(10, 300) for _ in range(30)]


def periods(random_: random.Random) -> list[str]:
    words = ("".join(random_.choices("xyz", k=random_.randrange(1, 40))) for _ in range(30))
    return [random_.choice("qr") + word * random_.randrange(1, 12) for word in words]


def mixed(random_: random.Random) -> list[str]:
    return ["".join(random_.choices(["ab", "ba", "é", COMMON[:20]], k=60)) for _ in range(40)]


def thue_morse(_: random.Random) -> list[str]:
    """Texts of two letters whose pieces have equal sums modulo 2^64, whatever the base."""
    text = "a"
    for _step in range(11):
        text += text.translate({97: 98, 98: 97})
    return [text[:1024], text[1024:2048], text[512:1600]]


KINDS = (lines, ends, letters, periods, mixed, thue_morse)


def written(folder: Path, texts: Sequence[str]) -> Path:
    write_small(folder)
    half = len(texts) // 2
    for path, some in (("web/odd.jsonl", texts[:half]), ("books/odd.jsonl", texts[half:])):
        write_raw(folder, path, [{"id": str(n), "text": text} for n, text in enumerate(some)])
    return folder


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("more", [{}, {"keep": "none", "boilerplate": 4}], ids=str)
def test_rows_are_those_of_the_definition(tmp_path: Path, kind: object, more: dict[str, object]) -> None:
    assert callable(kind)
    entry = {**ENTRY, "min_length": f"{LENGTH} bytes", **more}
    corpus, _ = built(written(tmp_path, kind(random.Random(7))), entry, engine__memory="64 KiB")
    found = rows(corpus)
    assert [row.attributes for row in found] == expected([d.text for d in documents(corpus)], entry)
    assert any(row.attributes for row in found)


def test_of_a_text_of_one_letter_the_first_window_stays(tmp_path: Path) -> None:
    """Its passages are one row, however long it is."""
    write_small(tmp_path)
    write_raw(tmp_path, "web/odd.jsonl", [{"id": "a", "text": "a" * 1_000_000}])
    corpus, _ = built(tmp_path, {**ENTRY, "sources": ["web"], "glob": "odd*"}, engine__memory="256 KiB")
    assert [row.attributes for row in rows(corpus) if row.attributes] == [{KEY: [(16, 1_000_000, 1.0)]}]
    passages = corpus.ledger.records("substrings_passages")["web--odd"].statistics
    assert (passages["rows_out"], passages["different"]) == (1, 1)


@pytest.mark.parametrize("more", [{}, {"boilerplate": 1}, {"keep": "none"}], ids=str)
def test_a_corpus_without_texts(tmp_path: Path, more: dict[str, object]) -> None:
    write_small(tmp_path)
    source = {"name": "odd", "location": "raw/odd", "may_be_empty": True}
    write_raw(tmp_path, "odd/rows.jsonl", [])
    corpus, _ = built(tmp_path, {**ENTRY, **more}, sources=[source])
    assert rows(corpus) == []
    write_raw(tmp_path, "odd/rows.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(["", "short", ""])])
    corpus, _ = built(tmp_path, {**ENTRY, **more}, sources=[source])
    assert [row.attributes for row in rows(corpus)] == [{}, {}, {}]
