"""JSON lines in gzip, and the members of which such files are made."""
