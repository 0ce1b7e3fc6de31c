"""Hours of automation: random operations on a corpus whose services run, and what must be so afterwards."""
