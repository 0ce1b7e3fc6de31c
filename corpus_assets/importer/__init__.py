"""Turns configurations of other systems into a corpus.yaml."""
