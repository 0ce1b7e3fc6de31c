"""Classifiers that are learned from examples."""
