"""Rows of raw files, whatever their format: limits, values, ids, and the documents made of them."""
