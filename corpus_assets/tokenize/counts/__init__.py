"""Counts of tokens, lengths and losses while rows are made, and the files that give them to trainers."""
