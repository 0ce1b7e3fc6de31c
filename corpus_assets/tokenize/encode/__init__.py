"""Texts to ids: cleaning, batches, long documents, fast libraries."""
