"""What the stages of containment share."""

from corpus_assets.dedup.signatures.scheme import SignatureScheme
from resources.stage.task import Task

SHINGLES = ("minhash.unit", "minhash.width")
RULE = "dedup.rule"
HOLDING = "dedup.contained"

PAIRS, SHARES = ".pairs.npy", ".shares.npy"
UNITS = 1_000_000
"""Shares are stored as whole numbers of millionths."""

HELD = "held.npy"
"""File of `components`: removed documents that another holds, and the shares."""


def shingling_of(task: Task) -> SignatureScheme:
    """Returns a scheme with the configured shingles; the rest of it is of no use here."""
    return SignatureScheme(width=task["minhash.width"], unit=task["minhash.unit"])
