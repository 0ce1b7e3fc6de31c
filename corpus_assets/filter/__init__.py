"""The filter: row rules over documents and their attributes, and the asset of the documents that stay."""
