"""Formats of masked documents, with a module per format."""
