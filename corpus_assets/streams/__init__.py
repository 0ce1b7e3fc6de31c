"""Streams: documents with their attributes, with filters of their own, in files of limited size."""
