"""The table beside a chunk that says in which unit of the mix each of its documents is."""

import numpy as np

from resources.hashing import keyed_hash

UNIT = np.dtype([("hash", "<u8"), ("unit", "<u2")])
"""A document by a hash, and the number of its unit. Rows ascend by hash, and each hash is there once."""

NO_UNIT = 0xFFFF
MOST_UNITS = NO_UNIT - 1

UNITS, UNIT_NAMES = ".units.npy", ".names.json"
"""Suffixes of the table, and of the list with the names of units by their number."""


def unit_hash(source: str, identifier: str) -> int:
    """Returns the hash by which tables of units know a document."""
    return keyed_hash("unit", 0, source, identifier)
