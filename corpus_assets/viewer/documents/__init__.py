"""Pages of documents: one whole, its duplicates, where it went, and the search for it."""
