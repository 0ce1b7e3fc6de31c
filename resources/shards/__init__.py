"""Shards: the raw files of a corpus, listed, told from other files, and read."""
