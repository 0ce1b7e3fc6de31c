"""Documents as a list: what became of each, filtered by what is known of it, sorted by a number, and counted."""
