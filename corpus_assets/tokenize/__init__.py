"""Tokenizers, packing into rows, token shards."""
