"""From pairs to clusters: the kept document of each, and a report of the removed ones."""
