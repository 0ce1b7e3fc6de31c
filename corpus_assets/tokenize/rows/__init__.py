"""Rows: packing, shuffling, files, and counts from the arrays."""
