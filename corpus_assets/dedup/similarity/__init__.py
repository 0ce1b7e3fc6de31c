"""Similarity of the two documents of a pair, by their sketches or by their texts."""
