"""Clusters that are found by ranges."""
