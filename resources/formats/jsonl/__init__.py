"""JSON lines in gzip, and the members that such files consist of."""
