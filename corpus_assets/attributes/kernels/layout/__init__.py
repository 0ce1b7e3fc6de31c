"""Counts over lines, paragraphs and n-grams as datatrove's filters make them."""
