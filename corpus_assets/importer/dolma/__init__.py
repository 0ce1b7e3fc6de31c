"""Configurations and command lines of the Dolma toolkit as a corpus.yaml."""
