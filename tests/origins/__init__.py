"""Counts of domains, hosts, suffixes and years."""
