"""Compiled loops of the file formats."""
