"""The proof that no file of the store holds a document that a list names."""
