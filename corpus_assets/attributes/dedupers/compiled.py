"""The kernels that the assets of a deduper call; a build compiles exactly these ahead."""

from corpus_assets.attributes.dedupers.subjects import PARTS
from corpus_assets.config.selection.dedupers import Deduper

KERNELS = "corpus_assets.attributes.dedupers.kernels"
_FIND_WORDS = "corpus_assets.attributes.kernels.word_breaks.boundaries.find_words"


def of_hashes(rule: Deduper) -> tuple[str, ...]:
    """Returns the kernels that find the parts of texts and hash them."""
    found = [f"{KERNELS}.hashing.hash_parts", f"{KERNELS}.seen.mark_seen", f"{KERNELS}.seen.set_bits"]
    if rule.by in PARTS:
        found.append(f"{KERNELS}.paragraphs.split_texts")
    if rule.skip_empty:
        found.append(f"{KERNELS}.paragraphs.are_blank")
    if rule.min_words or rule.by == "ngrams":
        found.append(_FIND_WORDS)
    if rule.by == "ngrams":
        found.append(f"{KERNELS}.hashing.hash_ngrams")
    return tuple(found)


def of_seen(rule: Deduper) -> tuple[str, ...]:
    """Returns the kernels that find earlier hashes."""
    if rule.bloom:
        return (f"{KERNELS}.seen.mark_in_filter",)
    return (f"{KERNELS}.seen.mark_seen", *((f"{KERNELS}.seen.find_seen",) if rule.against else ()))


def of_marks(_: Deduper) -> tuple[str, ...]:
    """Returns the kernels that count earlier hashes."""
    return (f"{KERNELS}.seen.set_bits", f"{KERNELS}.seen.count_bits")
