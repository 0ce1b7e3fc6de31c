"""Exact repeated substrings of all texts, as attributes (docs/substrings.md)."""
