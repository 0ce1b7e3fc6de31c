"""Document, paragraph and n-gram deduplication as attributes."""
