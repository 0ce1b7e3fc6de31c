"""The Dagster instance of a corpus, its services, and waiting for the store."""
