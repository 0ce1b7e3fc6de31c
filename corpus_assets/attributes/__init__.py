"""Attributes of documents: taggers that score spans of their texts."""
