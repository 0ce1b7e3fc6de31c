"""Traces documents through all stages, and tokens back to their document and raw row."""
