"""Deduplication tools side by side: one runner per tool, each run by the Python of a virtual environment of its own."""
