"""Jobs: one partition to compute, and how a worker computes and commits it."""
