"""The DAGSTER_HOME of a corpus: its place, its content, and its faults."""
