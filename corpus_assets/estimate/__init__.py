"""Estimates the results and costs of a build from samples of the corpus that are really built."""
