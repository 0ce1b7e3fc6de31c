"""The viewer: read-only pages over a built corpus, for `corpus view` and beside the Dagster web UI of `corpus ui`."""
