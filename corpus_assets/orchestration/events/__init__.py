"""Dagster's events and runs, stored in batches. With `instance`, the only users of its private API."""
