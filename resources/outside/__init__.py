"""Bytes from outside the store: one reader that digests them, and what two readings of a file agree on."""
