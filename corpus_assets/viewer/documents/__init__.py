"""Pages of documents: a whole document, its duplicates, its way, and the search."""
