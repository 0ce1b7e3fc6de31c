"""Units of the mix: in which bucket each document is, borders of buckets, and tables by chunk."""
