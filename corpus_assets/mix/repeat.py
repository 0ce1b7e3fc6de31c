"""Exact epochs: decides how often each kept document is used."""

from typing import Final

from resources.hashing import keyed_hash

NOT_USED: Final = "not_in_this_epoch"
"""The reason for documents that are used zero times, because the epochs of their source are fewer than one."""


def copies(epochs: float, seed: int, source: str, identifier: str) -> int:
    """Returns how often a document is used: the whole epochs, plus one for a keyed-hash share of the documents.

    1.0 uses every document exactly once; 2.5 uses each twice and half of them a third time; 0.25 uses a quarter.
    """
    whole = int(epochs)
    share = epochs - whole
    if share == 0:
        return whole
    return whole + (keyed_hash("epoch", seed, source, identifier) < share * 2.0**64)
