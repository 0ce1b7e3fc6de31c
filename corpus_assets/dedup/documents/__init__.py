"""Numbers of documents, columns read by number, and rows spilled to disk."""
