"""The proof that nothing in the store holds a document that a list names."""
