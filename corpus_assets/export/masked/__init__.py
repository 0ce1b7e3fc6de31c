"""Masked documents: ids of which some are learned, before a format writes them."""
