"""`corpus init`: the first corpus.yaml over raw files."""
