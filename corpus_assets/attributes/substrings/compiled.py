"""The kernels that the assets of an entry call; a build compiles exactly these ahead."""

from corpus_assets.config.selection.kinds.substrings import Substrings
from resources.formats.texts import DOCUMENT_TEXTS

_KERNELS = "corpus_assets.attributes.substrings.kernels"
_FIND_WORDS = "corpus_assets.attributes.kernels.word_breaks.boundaries.find_words"
_HASH_PARTS = "corpus_assets.attributes.dedupers.kernels.hashing.hash_parts"


def of_passages(rule: Substrings) -> tuple[str, ...]:
    """Returns the kernels that cut texts into passages."""
    return DOCUMENT_TEXTS, f"{_KERNELS}.passages.find_passages", *_of_tokens(rule)


def of_windows(rule: Substrings) -> tuple[str, ...]:
    """Returns the kernels that hash windows."""
    return f"{_KERNELS}.passages.hash_windows", *_of_tokens(rule)


def of_marks(rule: Substrings) -> tuple[str, ...]:
    """Returns the kernels that find spans."""
    words = rule.unit == "tokens" or rule.borders == "words"
    return f"{_KERNELS}.covering.cover", *((_FIND_WORDS,) if words else ())


def _of_tokens(rule: Substrings) -> tuple[str, ...]:
    return (_FIND_WORDS, _HASH_PARTS) if rule.unit == "tokens" else ()
