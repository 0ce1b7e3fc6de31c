"""Which compiled functions the search calls: a build compiles these, and no others, ahead."""

from collections.abc import Mapping
from typing import Any

KERNELS = "corpus_assets.contamination.kernels"
_WORDS = f"{KERNELS}.words.hash_words"


def of_index(_: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns what numbers the n-grams of items."""
    return (_WORDS, f"{KERNELS}.search.ngram_keys")


def of_search(_: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns what looks up the n-grams of documents."""
    return (_WORDS, f"{KERNELS}.search.prefilter", f"{KERNELS}.search.find_ngrams")
