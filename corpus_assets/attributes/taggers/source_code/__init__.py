"""Taggers of source code."""
