"""The index of texts: which blocks of documents may hold a phrase."""
