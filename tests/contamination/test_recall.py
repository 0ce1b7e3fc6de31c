"""Real documents: every item that was planted in one is found, and none elsewhere."""

import random
from pathlib import Path

import pytest

from corpus_assets.raw.sample import write_sample
from resources.formats.documents import Document
from tests.build.small import drive, opened, write_raw, write_small
from tests.contamination.planted import FACTS, configure, marked, partitions, searched, shares, write_items

DOCUMENTS = 10_000
ITEMS = 300
CHANGES = {
    "exact": lambda text: text,
    "respaced": lambda text: "\n \n".join(text.split(" ")),
    "recased": str.swapcase,
    "repunctuated": lambda text: text.replace(".", " !?").replace(",", ";").replace("-", "—").replace("'", "’"),
    "partial": lambda text: " ".join(text.split()[: -(-len(text.split()) * 6 // 10)]),
}


def real_documents(folder: Path) -> list[Document]:
    """Documents of the sample corpus, in pieces, so that there are many."""
    write_sample(folder / "raw" / "sample", megabytes=16)
