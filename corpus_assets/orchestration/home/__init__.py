"""The DAGSTER_HOME of a corpus: where it is, what is in it, and why it cannot be used."""
