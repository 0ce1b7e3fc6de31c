"""Tokenizers of every kind, from the bytes of their files."""
