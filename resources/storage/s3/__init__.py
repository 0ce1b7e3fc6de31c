"""The store in a bucket of S3 or of a compatible store."""
