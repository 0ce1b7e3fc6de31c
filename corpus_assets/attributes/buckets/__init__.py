"""Buckets of a score as labels of documents: its values in each shard, the borders, and the bucket of each document."""
