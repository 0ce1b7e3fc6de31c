"""Compiled loops over the UTF-8 of a text."""
