"""SQL over the records, documents and attributes of a corpus, by DuckDB."""
