"""Normalized and cleaned texts, lengths and the short list of the golden SlimPajama run, by digest."""

import hashlib
import json
from collections import defaultdict

from corpus_assets.normalize.text import normalizer
from resources.documents.slimpajama_cleaning import clean, cleaned_length
from tests.dedup.slimpajama import documents, golden, normalized_texts, raw_texts


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def test_raw_texts_are_the_ones_the_run_read() -> None:
    assert [sha256(text) for text in raw_texts()] == [row["raw_sha256"] for row in documents()]


def test_normalized() -> None:
    normalize = normalizer("ftfy")
    texts = [normalize(text) for text in raw_texts()]
    assert [sha256(text) for text in texts] == [row["norm_sha256"] for row in documents()]
    assert [len(text) for text in texts] == [row["norm_chars"] for row in documents()]
    assert texts == normalized_texts()


def test_cleaned() -> None:
    texts = normalized_texts()
    assert [sha256(clean(text)) for text in texts] == [row["clean_sha256"] for row in documents()]
    assert [cleaned_length(text) for text in texts] == [row["clean_len"] for row in documents()]


def test_short_list() -> None:
    short: dict[str, list[int]] = defaultdict(list)
    for row, text in zip(documents(), normalized_texts(), strict=True):
        file, _, index = row["key"].rpartition("@")
        assert (cleaned_length(text) < 200) == row["short"]
        if cleaned_length(text) < 200:
            short[file].append(int(index))
    assert dict(short) == json.loads(golden("short.json").read_text())
