"""Splitters of texts into words and sentences, by the rules of other libraries."""
