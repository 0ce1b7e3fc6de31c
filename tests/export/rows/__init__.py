"""Rows of several documents, all of which are learned."""
