"""Looks at raw files: which there are, what they are by their first bytes, and what their first rows hold."""
