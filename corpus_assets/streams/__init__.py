"""Streams: documents with their attributes, filtered by themselves, in files of up to a size."""
