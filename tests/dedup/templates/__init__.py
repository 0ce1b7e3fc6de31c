"""Shingles that much of a source has, left out of the search for near-duplicates."""
