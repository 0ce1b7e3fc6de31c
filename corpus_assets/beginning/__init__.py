"""The first corpus.yaml over raw files that nobody has described yet: look at files, guess, write."""
