"""The sample corpus: where its texts come from, and how it is written."""
