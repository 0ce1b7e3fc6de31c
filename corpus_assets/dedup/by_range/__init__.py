"""Clusters of near-duplicates by ranges: all but the union-find and the last merge."""
