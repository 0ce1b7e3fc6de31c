"""Rows of datasets of texts: which of them holds a document, and of which document a row is."""
