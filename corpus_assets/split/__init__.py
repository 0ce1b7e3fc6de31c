"""Splits: holdout, validation and test, decontaminated train."""
