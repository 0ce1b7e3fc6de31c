"""Other processes: limits on untrusted ones, and whether one still runs."""
