"""Units of the mix: buckets of documents by label and score."""
