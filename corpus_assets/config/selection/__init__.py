"""Sections of `corpus.yaml` that say which documents stay: filters, attributes, duplicates, contamination."""
