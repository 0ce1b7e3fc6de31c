"""Sections of `corpus.yaml` that decide which documents stay: filters, attributes, duplicates, contamination."""
