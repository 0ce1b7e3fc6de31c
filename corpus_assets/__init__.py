"""The asset graph: one folder per stage, in the order the data flows."""
