"""All of the shared data as one corpus, every set and format, from raw files to tokens (data/README.md)."""

import unicodedata
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.dedup.hooks import retention
from corpus_assets.raw.readers import RowRules
from resources.formats.documents import Document
from tests.data.building import assert_conserved, build, open_corpus, partitions, rows_of, token_rows
from tests.golden import shared
from tests.raw.test_shared_data import SETS, read_set

LARGE = {"books", "books-long", "code", "web", "udhr", "man", "licenses", "readme-history", "sft-man"}
EXPECTED = {name: (documents, size) for name, _, _, documents, size in reversed(SETS)}
WITHOUT_TEXT = {  # sets whose rows hold no string to train on: reason, rows
    "dpo-chat": ({"glob": "dpo/chat.jsonl", "text_key": "chosen"}, {"text_not_a_string": 150}),
    "pairs": ({"glob": "pairs/*"}, {"no_text": 3236}),
}
NOTHING_LEFT = {"sft-commands-tar"}  # only short texts and duplicates


def sources(names: set[str]) -> list[dict[str, Any]]:
    """In the order of the list; a set that is listed twice is taken the first way."""
    rules: dict[str, dict[str, Any]] = {name: {"glob": pattern, **more} for name, pattern, more, _, _ in reversed(SETS)}
    rules |= {name: {**chosen, "max_bad_rows": 1.0, "may_be_empty": True} for name, (chosen, _) in WITHOUT_TEXT.items()}
    rules |= {name: {**rules[name], "may_be_empty": True} for name in NOTHING_LEFT}
    order = list(dict.fromkeys([name for name, *_ in SETS] + list(WITHOUT_TEXT)))
    return [{"name": name, "location": str(shared("data")), **rules[name]} for name in order if name in names]


def built(folder: Path, names: set[str], **values: Any) -> Corpus:
    corpus = open_corpus(folder, {"sources": sources(names), "mix": {"chunks": 4}, **values})
    build(corpus)
    return corpus


def normalized_sizes() -> dict[str, int]:
    """Text bytes of every set in Unicode NFC, straight from the readers."""
    size: Counter[str] = Counter()
    for name, pattern, rules, _, _ in {row[0]: row for row in reversed(SETS)}.values():
        for row in read_set(shared("data"), pattern, RowRules(name, **rules)):  # type: ignore[arg-type]
            assert isinstance(row, Document)
            size[name] += len(unicodedata.normalize("NFC", row.text).encode())
    return size


def check(corpus: Corpus, sizes: Mapping[str, int | None]) -> None:
    documents: Counter[str] = Counter()
    size: Counter[str] = Counter()
    dropped: dict[str, Counter[str]] = {}
    by_key = corpus.listing().by_key()
    for partition in partitions(corpus, "normalized_documents"):
        source, numbers = by_key[partition.key or ""].source, partition.record.statistics
        documents[source] += numbers["rows_out"]
        size[source] += numbers["text_bytes"]
        dropped.setdefault(source, Counter()).update(numbers.get("dropped", {}))
    for source, reasons in dropped.items():
        assert reasons == (WITHOUT_TEXT[source][1] if source in WITHOUT_TEXT else {})
        assert documents[source] == EXPECTED.get(source, (0, 0))[0]
        assert sizes.get(source, 0) in (None, size[source])
    assert_conserved(corpus)
    assert token_rows(corpus, "train") > 0
    assert token_rows(corpus, "test") > 0
    assert build(corpus) == {}


def test_the_smaller_sets_as_they_are(tmp_path: Path) -> None:
    names = set(EXPECTED) | set(WITHOUT_TEXT)
    corpus = built(tmp_path, names - LARGE, normalize={"method": "none"})
    check(corpus, {name: size for name, (_, size) in EXPECTED.items()})
    assert rows_of(corpus, "normalized_documents") > 10_000


@pytest.mark.slow
def test_every_set(tmp_path: Path) -> None:
    names = set(EXPECTED) | set(WITHOUT_TEXT)
    corpus = built(tmp_path, names, engine={"workers": 2}, dedup={"max_loss": 1.0})
    lost = retention(partitions(corpus, "components")[0].record.numbers, {"dedup": {"max_loss": 0.9}})
    assert [fault.split()[1] for fault in lost] == ["udhr-nfd", "sft-man"], "the same texts again, as other sources"
    check(corpus, normalized_sizes())
    assert len(corpus.config.sources) == len(names) == 20
    assert rows_of(corpus, "components", "duplicates") > 742
