"""Small models of languages, trained here."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

WORDS = {
    "en": ["the", "of", "and", "river", "with", "house"],
    "fr": ["le", "de", "et", "fleuve", "avec", "maison"],
    "ru": ["река", "дом", "и", "мы", "они", "когда"],
    "ja": ["は", "が", "東京", "こと", "です", "ます"],
}


def write_model(file: Path, labels: Mapping[str, str]) -> Path:
    """Trains a model whose labels, by code of `WORDS`, are these."""
    fasttext = pytest.importorskip("fasttext", reason="the extra fasttext is not installed")
    drawn = random.Random(1)
    lines = [
        f"__label__{label} {' '.join(drawn.choices(WORDS[code], k=8))}"
        for code, label in labels.items()
        for _ in "x" * 60
    ]
    text = file.with_suffix(".txt")
    text.write_text("\n".join(lines), encoding="utf-8")
    trained = fasttext.train_supervised(str(text), dim=8, epoch=30, lr=1.0, thread=1, verbose=0)
    trained.save_model(str(file))
    return file


def said(code: str, seed: int = 0) -> str:
    """A text in one of the languages; its lines end."""
    drawn = random.Random(f"{code} {seed}")
    return "\n".join(" ".join(drawn.choices(WORDS[code], k=6)) + "." for _ in range(4))
