"""What one more source costs a corpus that is built: its documents, copies, and what is computed again."""
