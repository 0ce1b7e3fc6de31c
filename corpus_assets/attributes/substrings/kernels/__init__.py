"""Compiled loops over passages and windows of texts."""
