"""`corpus build`, and what it shows while it works."""
