"""Was anything removed that should have stayed? A sample of what deduplication removed, for people to judge."""
