"""Rows in which a document is: of raw files, of the mix and its splits, of token streams, datasets and their files."""
