"""The plan: which partitions are not fresh, and why."""
