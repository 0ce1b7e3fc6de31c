"""From pairs to clusters, the document kept of each, and a report of what goes."""
