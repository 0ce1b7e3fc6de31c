"""The kernels that the search calls; a build compiles exactly these ahead."""

from collections.abc import Mapping
from typing import Any

KERNELS = "corpus_assets.contamination.kernels"
_WORDS = f"{KERNELS}.words.hash_words"


def of_index(_: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the kernels that number the n-grams of items."""
    return (_WORDS, f"{KERNELS}.search.ngram_keys")


def of_search(_: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the kernels that look up the n-grams of documents."""
    return (_WORDS, f"{KERNELS}.search.prefilter", f"{KERNELS}.search.find_ngrams")
