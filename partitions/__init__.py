"""Partition definitions and mappings, nothing else."""
