"""Formats of raw files: how their rows are found."""
