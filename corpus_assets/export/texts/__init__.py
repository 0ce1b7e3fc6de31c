"""Datasets of texts, for trainers that tokenize by themselves: `format: text`."""
