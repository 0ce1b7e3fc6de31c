"""Text normalization and the short-document list."""
