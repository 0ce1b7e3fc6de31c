"""Limits on what comes from outside, each just within and just beyond."""
