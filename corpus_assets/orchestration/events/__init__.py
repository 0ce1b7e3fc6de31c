"""Dagster's events and runs, stored in batches; with `instance` and `partitions`, all that uses its private API."""
