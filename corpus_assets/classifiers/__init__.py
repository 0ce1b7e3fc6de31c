"""Filters that are learned from examples: their sample, training, calibration, figures and files."""
