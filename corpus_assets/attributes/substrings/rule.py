"""What all stages of an entry need to know of it: lengths in units, and what it compares."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.selection.kinds.substrings import Substrings
from resources.shards.listing import Shard

REPEATED, SEVERAL, BOILERPLATE = 1, 2, 4
"""Bits of what is said of a content: another copy makes it a repetition; other contents have its k-gram, so that its
windows are compared one by one; it stands in more documents than boilerplate may."""

DOCUMENTS_SHIFT = 3
"""Bit from which on the number of documents stands, if the shard is the first that has this boilerplate."""


def gram_of(length: int) -> int:
    """Returns the units of a k-gram for windows of a length.

    A longer one occurs less often by chance, so that fewer windows are compared; a shorter one gives fewer passages.
    """
    return max(length // 2, 1)


def is_compared(shard: Shard, rule: Substrings) -> bool:
    """Returns whether an entry looks at the documents of a shard."""
    return shard.is_among(rule.sources, rule.glob)


def is_counted(rule: Substrings) -> bool:
    """Returns whether all copies of a window are needed: to count documents, or since a later copy counts too."""
    return rule.keep == "none" or rule.boilerplate is not None


def says_type(rule: Substrings) -> np.dtype[np.unsignedinteger]:
    """Returns the type of what is said of a content."""
    return np.dtype("<u1" if rule.boilerplate is None else "<u4")


@lru_cache(maxsize=4)
def powers(length: int) -> NDArray[np.uint64]:
    """Returns the powers that hashing windows of a length needs."""
    from corpus_assets.attributes.substrings.kernels.polynomial import powers_of_bases

    return powers_of_bases(2 * length + 1)
