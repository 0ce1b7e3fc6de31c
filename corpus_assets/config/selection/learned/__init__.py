"""What is learned from documents: filters, language models, and the borders of buckets of a score."""
