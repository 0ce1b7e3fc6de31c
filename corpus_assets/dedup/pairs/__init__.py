"""Pairs of documents with equal keys, each pair once."""
