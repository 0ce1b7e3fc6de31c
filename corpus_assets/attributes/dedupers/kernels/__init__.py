"""Compiled loops of deduplication."""
