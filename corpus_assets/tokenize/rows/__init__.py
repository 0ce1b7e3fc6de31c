"""Rows: packing, shuffling, files, and what the arrays say."""
