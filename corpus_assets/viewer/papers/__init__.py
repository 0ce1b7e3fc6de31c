"""Pages of papers about the corpus."""
