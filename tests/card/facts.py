"""Facts of an invented corpus, with and without what people say of it."""

from datetime import date
from typing import Any

from corpus_assets.card.facts import Facts, FileFacts, SourceFacts
from corpus_assets.config.card import Card

SAID: dict[str, Any] = {
    "title": "Two shelves",
    "description": "Books and pages.",
    "version": "1.2.0",
    "released": "2026-11-22",
    "url": "https://example.org/shelves",
    "licence": "CC-BY-4.0",
    "languages": ["en", "de"],
    "creators": [{"name": "Ada Reader", "kind": "person", "contact": "ada@example.org"}],
    "publisher": {"name": "Shelf Society", "contact": "Main Street 1"},
    "representative": {"name": "Rep Ltd"},
    "contact": "shelves@example.org",
    "citation": "@misc{shelves}",
    "uses": "Language models.",
    "misuses": "Medical advice.",
    "limitations": "Mostly old books.",
    "personal_information": "Names of authors.",
    "rights_reservations": "robots.txt is read.",
    "illegal_content": "Lists of hashes.",
    "updates": "Never.",
    "model": {"names": ["shelf-1"], "depends_on": "nothing", "placed_on_market": "2026-12-01"},
    "sources": {
        "books": {
            "origin": "public_dataset",
            "description": "Old books.",
            "url": "https://example.org/b",
            "collected": "2020",
        },
        "web": {
            "origin": "crawled",
            "description": "Pages.",
            "collected": "2024",
            "crawler": "shelfbot, which obeys robots.txt",
            "domains": ["example.org"],
        },
    },
}


def card(**said: Any) -> dict[str, Any]:
    return Card(**said).model_dump()


def facts(said: dict[str, Any] | None = None) -> Facts:
    return Facts(
        name="shelves",
        digest="0123456789abcdef",
        sources=[
            SourceFacts("books", 100, 9_000_000, 2_000_000, {"CC0-1.0": 9_000_000}),
            SourceFacts(
                "web",
                50,
                1_000_000,
                300_000,
                {"MIT OR ISC": 600_000, "Terms | of *my* own": 300_000, "none stated": 100_000},
            ),
        ],
        files=[
            FileFacts("train_documents", "documents", "train", "splits/decontaminated_train/*.jsonl.gz", 4, 150),
            FileFacts("train", "hdf5", "train", "tokens/train/*.h5", 4, 2200, 2_300_000),
        ],
        steps=["Texts were normalized (NFC).", "Near-duplicates were removed."],
        tokenizer="a byte-level BPE tokenizer of 8,192 tokens",
        versions={"corpus-assets": "0.1.0"},
        card=card(**(SAID if said is None else said)),
    )


RELEASED = date(2026, 11, 22)
