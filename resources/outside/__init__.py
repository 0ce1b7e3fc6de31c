"""Bytes from outside the store: one reader that digests them, and content that two readings agreed on."""
